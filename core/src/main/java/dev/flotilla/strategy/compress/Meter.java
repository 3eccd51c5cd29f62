package dev.flotilla.strategy.compress;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Link;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import org.bytedeco.pytorch.global.torch;

/** Measures the link between ranks and what this device needs; all ranks call it together. */
class Meter {

  private static final int PROBED = 1 << 20;
  private static final int REPEATS = 4;

  private final Collective collective;
  private final ComputeDevice device;

  /**
   * Prepares.
   *
   * @param device where the gradients lie
   */
  Meter(Collective collective, ComputeDevice device) {
    this.collective = collective;
    this.device = device;
  }

  /** Returns the largest of all ranks' numbers, one by one. */
  double[] largest(double... numbers) {
    return Link.largest(collective, numbers);
  }

  Link link() {
    return Link.measure(collective, device);
  }

  /** Returns the seconds per element of rounding to 16 bits and back, twice. */
  double convert() {
    return perElement(
        elements -> {
          var full = device.zeros(torch.ScalarType.Float, elements);
          var half = device.zeros(torch.ScalarType.BFloat16, elements);
          return shortest(
              () -> {
                half.copy_(full);
                full.copy_(half);
                half.copy_(full);
                full.copy_(half);
              });
        });
  }

  /** Returns the seconds per element of a compressed update. */
  double choose(Dgc settings, Rule rule) {
    return perElement(
        elements -> {
          try (var memory = Arena.ofConfined();
              var bucket = bucket(settings, rule, (int) elements, memory)) {
            bucket.sparsity(settings.ramp().last());
            return shortest(() -> bucket.compress(1));
          }
        });
  }

  /** Numbers are anything but equal: those are the slowest to choose from. */
  private BucketCompressor bucket(Dgc settings, Rule rule, int elements, Arena memory) {
    int ranks = collective.size();
    if (device.isCuda()) {
      var field =
          DeviceField.whole(
              TensorScope.keep(device.zeros(torch.ScalarType.Float, elements).normal_()),
              TensorScope.keep(device.zeros(torch.ScalarType.Float, elements)),
              TensorScope.keep(device.zeros(torch.ScalarType.Float, elements)),
              TensorScope.keep(device.zeros(torch.ScalarType.Float, elements)));
      return new DeviceBucket(settings, rule, field, elements, ranks);
    }
    long bytes = (long) Float.BYTES * elements;
    var field =
        new Field(
            0,
            0,
            memory.allocate(bytes, 64),
            memory.allocate(bytes, 64),
            memory.allocate(bytes, 64),
            memory.allocate(bytes, 64));
    for (int i = 0; i < elements; i++) {
      field.gradient().put(i, (i * 0x9E3779B9) * 0x1p-31f);
    }
    return new CpuBucket(settings, rule, List.of(field), elements, ranks);
  }

  /** On a device a pass takes some time whatever its length, which does not count here. */
  private double perElement(LongToDoubleFunction seconds) {
    try (var _ = TensorScope.open()) {
      if (!device.isCuda()) {
        return seconds.applyAsDouble(PROBED) / PROBED;
      }
      long few = PROBED;
      long many = 8L * PROBED;
      double more = seconds.applyAsDouble(many) - seconds.applyAsDouble(few);
      return Math.max(0, more) / (many - few);
    }
  }

  private double shortest(Runnable pass) {
    double shortest = Double.POSITIVE_INFINITY;
    for (int i = 0; i < 2 * REPEATS; i++) {
      device.synchronize();
      long start = System.nanoTime();
      pass.run();
      device.synchronize();
      shortest = Math.min(shortest, (System.nanoTime() - start) / 1e9);
    }
    return shortest;
  }
}
