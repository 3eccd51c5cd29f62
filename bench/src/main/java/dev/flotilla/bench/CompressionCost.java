package dev.flotilla.bench;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.strategy.compress.CompressionPasses;
import java.util.Arrays;
import java.util.Locale;

/**
 * CPU time of what compression adds to an update, on one core: correction, choice and application
 * over as many parameters as ResNet-18 has, and choice alone against {@code topk}.
 */
public final class CompressionCost {

  private static final int WARM_UP = 15;

  private CompressionCost() {}

  /** Prints medians of interleaved rounds. */
  public static void main(String[] args) {
    long elements = args.length > 0 ? Long.parseLong(args[0]) : 11_173_962;
    int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 21;
    var update = new double[rounds];
    var select = new double[rounds];
    var topk = new double[rounds];
    var read = new double[rounds];
    NativeLibraries.load();
    var device =
        args.length > 2 && args[2].equals("cuda") ? ComputeDevice.cuda(0) : ComputeDevice.CPU;
    try (var passes = new CompressionPasses(elements, device)) {
      for (int round = -WARM_UP; round < rounds; round++) {
        passes.backward();
        double a = millis(passes, passes::update);
        double b = millis(passes, passes::select);
        double c = round < -2 ? 0 : millis(passes, passes::topk);
        double d = millis(passes, passes::read);
        if (round >= 0) {
          update[round] = a;
          select[round] = b;
          topk[round] = c;
          read[round] = d;
        }
      }
    }
    System.out.println(
        String.format(
            Locale.ROOT,
            "%,d parameters, 0.1 %% sent: correction, choice and application %.2f ms; choice alone,"
                + " threshold from a sample, %.2f ms, topk %.2f ms (%.0f times), reading once"
                + " %.2f ms (%.0f %%)",
            elements,
            median(update),
            median(select),
            median(topk),
            median(topk) / median(select),
            median(read),
            100 * median(read) / median(select)));
  }

  /** By the clock on a GPU; on a CPU, which may be shared, by what this thread has used of it. */
  private static double millis(CompressionPasses passes, Runnable pass) {
    if (!passes.isOnDevice()) {
      return Pairs.cpuMillis(pass);
    }
    passes.finish();
    long start = System.nanoTime();
    pass.run();
    passes.finish();
    return (System.nanoTime() - start) / 1e6;
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
