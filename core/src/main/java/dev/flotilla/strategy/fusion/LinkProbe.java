package dev.flotilla.strategy.fusion;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.Arrays;
import org.bytedeco.pytorch.global.torch;

/** Measures what an all-reduce takes on the link between the ranks, as latency plus bytes. */
final class LinkProbe {

  private static final int SMALL = 1 << 10;
  private static final int LARGE = 1 << 20;
  private static final int REPEATS = 5;

  private LinkProbe() {}

  /** Measures; all ranks call it together and get the same answer, rank 0's. */
  static MergedCut measure(Collective collective) {
    try (var _ = TensorScope.open()) {
      double small = seconds(collective, SMALL);
      double large = seconds(collective, LARGE);
      var found = Tensors.ofDoubles(small, large);
      collective.broadcast(found, 0, Traffic.SCALAR).await();
      return fitted(at(found, 0), at(found, 1));
    }
  }

  private static double at(org.bytedeco.pytorch.Tensor tensor, int index) {
    try (var element = tensor.narrow(0, index, 1)) {
      return element.item_double();
    }
  }

  private static MergedCut fitted(double small, double large) {
    double perByte = Math.max(0, large - small) / (4.0 * (LARGE - SMALL));
    return new MergedCut(Math.max(1e-6, small - perByte * 4 * SMALL), perByte);
  }

  private static double seconds(Collective collective, int elements) {
    var tensor = Tensors.zeros(torch.ScalarType.Float, elements);
    var times = new double[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
      collective.barrier();
      long start = System.nanoTime();
      collective.allReduce(tensor, Reduction.SUM, Traffic.SCALAR).await();
      times[i] = (System.nanoTime() - start) / 1e9;
    }
    Arrays.sort(times);
    return times[REPEATS / 2];
  }
}
