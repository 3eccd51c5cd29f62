package dev.flotilla.strategy.compress;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Link;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.Arena;
import java.util.List;
import org.bytedeco.pytorch.global.torch;

/** Measures the link between ranks and what this processor needs; all ranks call it together. */
class Meter {

  private static final int PROBED = 1 << 20;
  private static final int REPEATS = 4;

  private final Collective collective;

  Meter(Collective collective) {
    this.collective = collective;
  }

  /** Returns the largest of all ranks' numbers, one by one. */
  double[] largest(double... numbers) {
    return Link.largest(collective, numbers);
  }

  Link link() {
    return Link.measure(collective);
  }

  /** Returns the seconds per element of rounding to 16 bits and back, twice. */
  double convert() {
    try (var _ = TensorScope.open()) {
      var full = Tensors.zeros(torch.ScalarType.Float, PROBED);
      var half = Tensors.zeros(torch.ScalarType.BFloat16, PROBED);
      return perElement(
          () -> {
            half.copy_(full);
            full.copy_(half);
            half.copy_(full);
            full.copy_(half);
          });
    }
  }

  /** Returns the seconds per element of a compressed update. */
  double choose(Dgc settings, Rule rule) {
    try (var memory = Arena.ofConfined()) {
      long bytes = 4L * PROBED;
      var field =
          new Field(
              0,
              0,
              memory.allocate(bytes, 64),
              memory.allocate(bytes, 64),
              memory.allocate(bytes, 64),
              memory.allocate(bytes, 64));
      for (int i = 0; i < PROBED; i++) {
        // Anything but equal numbers, which are the slowest to choose from.
        field.gradient().put(i, (i * 0x9E3779B9) * 0x1p-31f);
      }
      var bucket = new CpuBucket(settings, rule, List.of(field), PROBED, collective.size());
      try {
        bucket.sparsity(settings.ramp().last());
        return perElement(() -> bucket.compress(1));
      } finally {
        bucket.close();
      }
    }
  }

  private static double perElement(Runnable pass) {
    double shortest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < 2 * REPEATS; i++) {
      long start = System.nanoTime();
      pass.run();
      shortest = Math.min(shortest, (System.nanoTime() - start) / 1e9);
    }
    return shortest / PROBED;
  }
}
