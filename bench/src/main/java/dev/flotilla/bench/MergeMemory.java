package dev.flotilla.bench;

import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Peak resident memory of merging 8 micro-batches of 8 against batches of 8 and 64, each in a
 * process of its own, above that of one that only loads libtorch.
 */
public final class MergeMemory {

  private static final int CHILDREN = 7;

  private MergeMemory() {}

  /** Prints the table; with arguments "batch k", runs one case and prints its peak. */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (args.length > 0) {
      System.out.println(peak(Integer.parseInt(args[0]), Integer.parseInt(args[1])));
      return;
    }
    double empty = child(0, 1);
    double small = child(8, 1) - empty;
    double large = child(64, 1) - empty;
    double merged = child(8, 8) - empty;
    System.out.printf(
        Locale.ROOT,
        "above an empty process (%.0f MB): batch 8 %.0f MB, batch 64 %.0f MB, 8 x 8 merged %.0f"
            + " MB%nmerged / batch 8 = %.3f, merged / batch 64 = %.3f%n",
        empty / 1e6,
        small / 1e6,
        large / 1e6,
        merged / 1e6,
        merged / small,
        merged / large);
  }

  private static long peak(int batch, int k) {
    NativeLibraries.load();
    if (batch > 0) {
      var builder =
          Trainer.on(World.solo())
              .model(new WideNet(8, 128))
              .optimizer(new Sgd(0.01))
              .threads(1)
              .loop(LoopSettings.defaults().endAfterUpdates(128 / (batch * k)));
      if (k > 1) {
        builder.strategy(new Strategy[] {new GradientMerge(k)});
      }
      try (var trainer = builder.build()) {
        trainer.fit(new Digits().train().batches(batch), 1);
      }
    }
    return ProcessMemory.peakResidentBytes();
  }

  /** Returns the median of several, as the C library's heap is not always cut the same way. */
  private static double child(int batch, int k) throws IOException, InterruptedException {
    var peaks = new double[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) {
      peaks[i] = oneChild(batch, k);
    }
    Arrays.sort(peaks);
    return peaks[CHILDREN / 2];
  }

  private static double oneChild(int batch, int k) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            // The optimising compiler borrows megabytes for a while, whatever is trained.
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            // A heap that is there from the start, and no compiler that borrows memory for itself.
            "-Xms64m",
            "-Xmx64m",
            "-XX:+AlwaysPreTouch",
            "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(MergeMemory.class.getName(), "" + batch, "" + k));
    var process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    var text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException("the case of batch " + batch + " failed");
    }
    return Double.parseDouble(text.strip());
  }
}
