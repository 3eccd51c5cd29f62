package dev.flotilla.config;

import dev.flotilla.collective.Collective;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.PeakMeter;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Constant;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes some real steps of a recipe, and says what they took: memory, time, and what was sent.
 *
 * <p>{@link #pretending} makes them on this process alone, with the memory and the work that a rank
 * of several would have, and nothing on the wire; {@link #together} with the other ranks.
 */
public final class StepTrial {

  /**
   * Bytes that a rank sends, by the collective.
   *
   * @param reduced by all-reduces and all-to-alls
   * @param gathered by all-gathers
   * @param scattered by reduce-scatters
   * @param messages that wait for each other
   */
  public record Sent(double reduced, double gathered, double scattered, double messages) {

    static final Sent NOTHING = new Sent(0, 0, 0, 0);

    Sent plus(Sent more) {
      return new Sent(
          reduced + more.reduced,
          gathered + more.gathered,
          scattered + more.scattered,
          messages + more.messages);
    }

    Sent since(Sent before, double times) {
      return new Sent(
          (reduced - before.reduced) / times,
          (gathered - before.gathered) / times,
          (scattered - before.scattered) / times,
          (messages - before.messages) / times);
    }
  }

  /**
   * What an update took.
   *
   * @param peakBytes the most memory that the process has had
   * @param seconds of an update, with all its micro-steps
   * @param backward seconds of the last backward; 0 where it was not watched
   * @param firstBucket seconds of it before the first bucket was full
   * @param buckets that were exchanged; 1 where they were not counted
   * @param microSteps of an update
   * @param samples that a rank takes in a micro-step
   * @param sent by a rank for an update; nothing where ranks were not pretended
   */
  public record Result(
      long peakBytes,
      double seconds,
      double backward,
      double firstBucket,
      int buckets,
      int microSteps,
      int samples,
      Sent sent) {}

  /**
   * How long a trial is.
   *
   * @param warmUp updates before the first that counts
   * @param cycles stretches that are timed, of which the shortest counts: whatever else the machine
   *     does only makes them longer
   * @param updates of a cycle
   */
  public record Length(int warmUp, int cycles, int updates) {

    int all() {
      return warmUp + cycles * updates;
    }
  }

  private final ConfiguredRun run;
  private final int samples;
  private final Length length;

  /**
   * Prepares a trial.
   *
   * @param run the recipe; for one rank where others are pretended
   * @param samples that a rank takes in a micro-step
   */
  public StepTrial(ConfiguredRun run, int samples, Length length) {
    this.run = run;
    this.samples = samples;
    this.length = length;
  }

  /** Makes steps as one of several ranks, of which the others are pretended. */
  public Result pretending(int ranks) {
    var traffic = new PretendedTraffic(ranks);
    return measured(
        alone -> ranks == 1 ? alone : new PretendedRanks(alone, ranks, traffic), traffic);
  }

  /** Makes steps together with the other ranks of the run's world, which do the same. */
  public Result together() {
    return measured(joined -> joined, new PretendedTraffic(1));
  }

  private Result measured(UnaryOperator<Collective> wrapper, PretendedTraffic traffic) {
    var config = run.config();
    var builder =
        run.describe(_ -> {})
            .schedule(new Constant())
            .nonFinite(
                config.nonFinite() == NonFinite.ROLLBACK ? NonFinite.SKIP : config.nonFinite())
            .compareNever()
            .strategy(config.techniques().toArray(Strategy[]::new))
            .collective(wrapper);
    try (var trainer = builder.build();
        var _ = TensorScope.open()) {
      trainer.plannedUpdates(length.all());
      var batch = config.data().train().load(chosen(config.data().train().size()));
      int microSteps = windows(trainer, batch, length.warmUp()) / length.warmUp();
      var before = traffic.sent();
      var times = new ArrayList<Double>();
      for (int i = 0; i < length.cycles(); i++) {
        trainer.collective().barrier();
        long start = System.nanoTime();
        windows(trainer, batch, length.updates());
        // What the last update has left on its way belongs to it.
        trainer.model().device().synchronize();
        times.add((System.nanoTime() - start) / 1e9 / length.updates());
      }
      double made = (double) length.cycles() * length.updates();
      return result(
          trainer, Collections.min(times), microSteps, traffic.sent().since(before, made));
    }
  }

  private Result result(Trainer trainer, double seconds, int microSteps, Sent sent) {
    var exchange = map(trainer.metrics().get("exchange"));
    long peak = new PeakMeter(trainer.model().device()).peakBytes();
    int buckets = exchange.get("buckets") instanceof List<?> list ? list.size() : 1;
    return new Result(
        peak,
        seconds,
        number(exchange.get("backward_ms")) / 1e3,
        number(exchange.get("first_bucket_ms")) / 1e3,
        Math.max(1, buckets),
        microSteps,
        samples,
        sent);
  }

  /** Makes whole windows, and returns the number of their micro-steps. */
  private static int windows(Trainer trainer, Batch batch, int count) {
    int steps = 0;
    for (int made = 0; made < count; steps++) {
      try (var _ = TensorScope.open()) {
        made += trainer.stepNonBlocking(batch).step().isBoundary() ? 1 : 0;
      }
    }
    return steps;
  }

  /** A data set that is too small gives its samples again. */
  private int[] chosen(int size) {
    return IntStream.range(0, samples).map(i -> i % size).toArray();
  }

  private static Map<?, ?> map(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? map : Map.of();
  }

  private static double number(@Nullable Object value) {
    return value instanceof Number number ? number.doubleValue() : 0;
  }
}
