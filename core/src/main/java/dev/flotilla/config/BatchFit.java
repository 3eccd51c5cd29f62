package dev.flotilla.config;

import dev.flotilla.collective.Collective;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.DeviceMemory;
import dev.flotilla.memory.PeakMeter;
import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Constant;
import dev.flotilla.pass.OutOfMemoryException;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the largest micro-batch of a recipe that fits into memory, by trying.
 *
 * <p>A trial is two updates on this rank alone: the first one of a run may take more than the
 * others. What a recipe shards it takes as one of several ranks would. {@link BatchSearch} says
 * which batches are tried.
 */
public final class BatchFit {

  private static final int TIMED_STEPS = 3;

  /**
   * What one batch took.
   *
   * @param batch samples
   * @param peakBytes the most memory that was in use; 0 where it did not fit
   * @param samplesPerSecond speed; 0 where it did not fit or was not timed
   */
  public record Trial(int batch, long peakBytes, double samplesPerSecond) {

    /** Tells whether the batch fitted. */
    public boolean fits() {
      return peakBytes > 0;
    }
  }

  /**
   * What was found.
   *
   * @param best the largest batch that fitted, timed
   * @param trials all trials in their order
   * @param limitBytes the memory that was allowed
   */
  public record Result(Trial best, List<Trial> trials, long limitBytes) {}

  private final ConfiguredRun run;
  private final int ranks;
  private final @Nullable ByteSize memory;
  private final Consumer<Trial> progress;
  private final List<Trial> trials = new ArrayList<>();

  /**
   * Prepares a search.
   *
   * @param run the recipe for one rank, as trials run alone
   * @param ranks those that share what is sharded
   * @param memory what the run may take; null for all that is free
   * @param progress told of each trial
   */
  public BatchFit(
      ConfiguredRun run, int ranks, @Nullable ByteSize memory, Consumer<Trial> progress) {
    this.run = run;
    this.ranks = ranks;
    this.memory = memory;
    this.progress = progress;
  }

  /**
   * Searches with some techniques instead of the recipe's own.
   *
   * @throws ConfigException if not even one sample fits
   */
  public Result with(List<Strategy> techniques) {
    trials.clear();
    var builder =
        run.describe(_ -> {})
            .schedule(new Constant())
            .nonFinite(NonFinite.SKIP)
            .strategy(techniques.toArray(Strategy[]::new))
            .collective(this::shared);
    var data = run.config().data().train();
    try (var trainer = builder.build()) {
      return search(trainer, data);
    }
  }

  /** Other techniques take the same memory on one rank as on several. */
  private Collective shared(Collective alone) {
    return run.memory().stage() == 0 || ranks == 1 ? alone : new PretendedRanks(alone, ranks);
  }

  private Result search(Trainer trainer, Dataset data) {
    var device = trainer.model().device();
    var allocator = new DeviceMemory(device);
    long limit = limit(device);
    allocator.limit(limit);
    try {
      int fits =
          new BatchSearch(limit, samples -> attempt(trainer, data, samples, limit, false)).run();
      return new Result(confirmed(trainer, data, fits, limit), List.copyOf(trials), limit);
    } finally {
      allocator.limit(allocator.totalBytes());
    }
  }

  private long limit(ComputeDevice device) {
    long free =
        device.isCuda()
            ? new DeviceMemory(device).freeBytes()
            : ProcessMemory.availableBytes() + ProcessMemory.residentBytes();
    return memory == null ? free : memory.bytes();
  }

  /** Times the best batch, and steps back where it does not fit a second time. */
  private Trial confirmed(Trainer trainer, Dataset data, int fits, long limit) {
    for (int batch = fits; batch >= 1; batch = Math.min(batch - 1, (int) (batch * 0.98))) {
      var trial = attempt(trainer, data, batch, limit, true);
      if (trial.fits()) {
        return trial;
      }
    }
    throw new ConfigException(
        "--memory",
        "%s is too little: not even one sample fits".formatted(new ByteSize(Math.max(1, limit))));
  }

  private Trial attempt(Trainer trainer, Dataset data, int samples, long limit, boolean isTimed) {
    var device = trainer.model().device();
    var meter = new PeakMeter(device);
    meter.restart();
    Trial trial;
    try (var _ = TensorScope.open()) {
      var batch = batch(data, samples);
      updates(trainer, batch, 2);
      double rate = isTimed ? rate(trainer, batch) : 0;
      long peak = meter.peakBytes();
      trial = new Trial(samples, peak <= limit ? peak : 0, rate);
    } catch (OutOfMemoryException full) {
      trainer.abandonStep();
      trial = new Trial(samples, 0, 0);
    }
    new DeviceMemory(device).release();
    trials.add(trial);
    progress.accept(trial);
    return trial;
  }

  private static double rate(Trainer trainer, Batch batch) {
    var device = trainer.model().device();
    device.synchronize();
    long start = System.nanoTime();
    int steps = updates(trainer, batch, TIMED_STEPS);
    device.synchronize();
    return steps * batch.samples() / ((System.nanoTime() - start) / 1e9);
  }

  /** Runs whole windows, and returns the number of micro-steps that they took. */
  private static int updates(Trainer trainer, Batch batch, int windows) {
    int steps = 0;
    for (int made = 0; made < windows; steps++) {
      made += trainer.step(batch).step().isBoundary() ? 1 : 0;
    }
    return steps;
  }

  /** A data set that is too small gives its samples again. */
  private static Batch batch(Dataset data, int samples) {
    return data.load(IntStream.range(0, samples).map(i -> i % data.size()).toArray());
  }
}
