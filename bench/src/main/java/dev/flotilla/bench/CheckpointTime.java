package dev.flotilla.bench;

import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.checkpoint.SafetensorsFile;
import dev.flotilla.checkpoint.TensorInfo;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Every;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * What saving a state of 400 MB costs the steps beside it, and what verification costs a load.
 *
 * <p>One save per 150 steps, interleaved with 150 steps without; the step that copies the state is
 * counted among those with.
 */
public final class CheckpointTime {

  private static final int STEPS = 150;
  private static final int LOADS = 15;

  private CheckpointTime() {}

  /** Prints both; with 0 rounds the second alone. */
  public static void main(String[] args) throws IOException {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 4;
    var folder = Files.createTempDirectory(Path.of(args.length > 1 ? args[1] : "."), "checkpoints");
    try (var _ = TensorScope.open();
        var trainer =
            Trainer.on(World.solo())
                .model(new Mlp(5000, List.of(5000, 5000), 10))
                .optimizer(new Momentum(0.0001, 0.9))
                .threads(1)
                .checkpoints(CheckpointSettings.in(folder).every(Every.end()))
                .build()) {
      var batch = batch();
      steps(trainer, batch, false);
      steps(trainer, batch, true);
      if (rounds > 0) {
        printSaving(trainer, batch, rounds);
      }
      printLoading(trainer, folder);
    } finally {
      delete(folder);
    }
  }

  private static Batch batch() {
    var inputs = Tensors.zeros(torch.ScalarType.Float, 4, 5000);
    var targets = Tensors.zeros(torch.ScalarType.Long, 4);
    return new Batch(List.of(inputs), targets, 4);
  }

  /** Returns the time of each step; with a save before the tenth. */
  private static double[] steps(Trainer trainer, Batch batch, boolean saving) {
    var millis = new double[STEPS];
    for (int i = 0; i < STEPS; i++) {
      long start = System.nanoTime();
      if (saving && i == 10) {
        trainer.save();
      }
      trainer.step(batch);
      millis[i] = (System.nanoTime() - start) / 1e6;
    }
    trainer.awaitSave();
    return millis;
  }

  private static void printSaving(Trainer trainer, Batch batch, int rounds) {
    var with = new double[rounds * STEPS];
    var without = new double[rounds * STEPS];
    for (int round = 0; round < rounds; round++) {
      System.arraycopy(steps(trainer, batch, false), 0, without, round * STEPS, STEPS);
      System.arraycopy(steps(trainer, batch, true), 0, with, round * STEPS, STEPS);
    }
    Arrays.sort(with);
    Arrays.sort(without);
    System.out.println(
        String.format(
            Locale.ROOT,
            "step with an async save beside it / without: p50 %.1f / %.1f ms, p99 %.1f / %.1f ms,"
                + " ratio of p99 %.3f, of p50 %.3f; longest %.1f ms (the copy)",
            at(with, 0.5),
            at(without, 0.5),
            at(with, 0.99),
            at(without, 0.99),
            at(with, 0.99) / at(without, 0.99),
            at(with, 0.5) / at(without, 0.5),
            with[with.length - 1]));
  }

  private static double at(double[] sorted, double fraction) {
    return sorted[(int) (fraction * (sorted.length - 1))];
  }

  /**
   * A load with everything it checks, against a bare copy of the same files: from the disk, as a
   * run on another machine or after a restart finds them, and from the page cache.
   */
  private static void printLoading(Trainer trainer, Path folder) throws IOException {
    var checkpoint = Restorer.candidates(folder).getFirst();
    try (var _ = TensorScope.open();
        var copies = new BareCopies(checkpoint)) {
      for (boolean fromDisk : new boolean[] {true, false}) {
        var bare = new double[LOADS];
        var verified = new double[LOADS];
        for (int i = -1; i < LOADS; i++) {
          double copied = millis(fromDisk, copies, copies::load);
          double loaded = millis(fromDisk, copies, () -> trainer.resume(folder));
          if (i >= 0) {
            bare[i] = copied;
            verified[i] = loaded;
          }
        }
        printFraction(fromDisk ? "from the disk" : "from the page cache", bare, verified);
      }
    }
  }

  private static double millis(boolean fromDisk, BareCopies copies, Runnable load) {
    if (fromDisk) {
      copies.files.forEach(PageCache::forget);
    }
    return millis(load);
  }

  private static void printFraction(String where, double[] bare, double[] verified) {
    double[] fractions =
        IntStream.range(0, LOADS).mapToDouble(i -> 1 - bare[i] / verified[i]).sorted().toArray();
    Arrays.sort(bare);
    Arrays.sort(verified);
    System.out.println(
        String.format(
            Locale.ROOT,
            "a load %s takes %.0f ms, a bare copy %.0f ms: fraction of all checks, median %.3f,"
                + " from %.3f to %.3f",
            where,
            verified[LOADS / 2],
            bare[LOADS / 2],
            fractions[LOADS / 2],
            fractions[0],
            fractions[LOADS - 1]));
  }

  private static double millis(Runnable body) {
    long start = System.nanoTime();
    body.run();
    return (System.nanoTime() - start) / 1e6;
  }

  /** Tensors for everything in a checkpoint's files. */
  private static final class BareCopies implements AutoCloseable {

    private final List<Path> files;
    private final Map<String, Tensor> tensors = new HashMap<>();

    BareCopies(Path checkpoint) throws IOException {
      try (var all = Files.list(checkpoint)) {
        files = all.filter(file -> file.toString().endsWith(".safetensors")).sorted().toList();
      }
      forEach(
          (file, info) ->
              tensors.put(
                  file.getFileName() + info.name(),
                  Tensors.zeros(info.type().scalarType(), info.shape())));
    }

    void load() {
      for (var path : files) {
        try (var file = SafetensorsFile.open(path)) {
          for (var info : file.tensors()) {
            file.copyInto(
                info.name(), Objects.requireNonNull(tensors.get(path.getFileName() + info.name())));
          }
        }
      }
    }

    private void forEach(BiConsumer<Path, TensorInfo> action) {
      for (var path : files) {
        try (var file = SafetensorsFile.open(path)) {
          file.tensors().forEach(info -> action.accept(path, info));
        }
      }
    }

    @Override
    public void close() {
      tensors.values().forEach(Tensor::close);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (var paths = Files.walk(folder)) {
      for (var path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
