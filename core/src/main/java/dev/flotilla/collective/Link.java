package dev.flotilla.collective;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import org.bytedeco.pytorch.global.torch;

/**
 * What an all-reduce takes between these ranks: a + c · bytes.
 *
 * @param latency a, in seconds
 * @param secondsPerByte c, for a byte of the tensor
 */
public record Link(double latency, double secondsPerByte) {

  private static final int SMALL = 256;
  private static final int LARGE = 1 << 17;
  private static final int LARGER = 1 << 21;
  private static final int REPEATS = 4;

  /** What takes no longer than this is measured more often, as the first times are the slowest. */
  private static final double SHORT = 0.01;

  /**
   * Measures; all ranks call it together and get the same answer.
   *
   * @param device where the tensors lie that will travel
   */
  public static Link measure(Collective collective, ComputeDevice device) {
    double small = seconds(collective, device, SMALL, REPEATS);
    int elements = LARGE;
    double large = seconds(collective, device, elements, REPEATS / 2);
    // All ranks see the same times, so they measure the same.
    if (large < SHORT) {
      small = Math.min(small, seconds(collective, device, SMALL, 4 * REPEATS));
      elements = LARGER;
      large = seconds(collective, device, elements, 3 * REPEATS);
    }
    double perByte = Math.max(1e-10, (large - small) / (4.0 * (elements - SMALL)));
    return new Link(Math.max(1e-6, small - perByte * 4.0 * SMALL), perByte);
  }

  /** Returns the shortest of some times, as the slowest rank saw it. */
  private static double seconds(
      Collective collective, ComputeDevice device, int elements, int repeats) {
    try (var _ = TensorScope.open()) {
      var tensor = device.zeros(torch.ScalarType.Float, elements);
      double shortest = Double.POSITIVE_INFINITY;
      for (int i = 0; i < repeats; i++) {
        device.synchronize();
        collective.barrier();
        long start = System.nanoTime();
        collective.allReduce(tensor, Reduction.SUM, Traffic.SCALAR).await();
        device.synchronize();
        shortest = Math.min(shortest, (System.nanoTime() - start) / 1e9);
      }
      return largest(collective, shortest)[0];
    }
  }

  /** Returns the largest of all ranks' numbers, one by one. */
  public static double[] largest(Collective collective, double... numbers) {
    try (var _ = TensorScope.open()) {
      var all = Tensors.ofDoubles(numbers);
      collective.allReduce(all, Reduction.MAX, Traffic.SCALAR).await();
      return NativeView.of(all).toArray(ValueLayout.JAVA_DOUBLE);
    }
  }

  /** Returns the seconds of an all-reduce. */
  public double allReduce(double bytes) {
    return latency + secondsPerByte * bytes;
  }

  /** A ring passes each byte of a tensor on 2 (n − 1) / n times. */
  public double secondsPerByteSent(int ranks) {
    return secondsPerByte * ranks / (2.0 * (ranks - 1));
  }
}
