package dev.flotilla.zoo.data;

import java.util.SplittableRandom;

/**
 * Random numbers for one sample in one epoch: a function of seed, epoch and sample alone, so that
 * what is drawn depends neither on threads nor on ranks nor on where a run was resumed.
 */
final class SampleRandom {

  private final SplittableRandom random;

  SampleRandom(long seed, long epoch, long sample) {
    random = new SplittableRandom(mix(mix(mix(seed) ^ epoch) ^ sample));
  }

  private static long mix(long value) {
    return new SplittableRandom(value).nextLong();
  }

  /** Draws from [0, bound). */
  int below(int bound) {
    return (int) Math.unsignedMultiplyHigh(random.nextLong(), bound);
  }

  /** Draws from [0, 1). */
  double unit() {
    return (random.nextLong() >>> 11) * 0x1p-53;
  }

  /** Draws an order of the numbers from 0. */
  int[] order(int count) {
    int[] order = new int[count];
    for (int i = 0; i < count; i++) {
      int at = below(i + 1);
      order[i] = order[at];
      order[at] = i;
    }
    return order;
  }

  /**
   * Draws from Beta(α, α): the share that one of two Gamma variables of shape α has in their sum.
   */
  double beta(double alpha) {
    double one = gamma(alpha);
    double other = gamma(alpha);
    return one + other > 0 ? one / (one + other) : coin() ? 1 : 0;
  }

  /** Marsaglia and Tsang, 2000. */
  private double gamma(double shape) {
    if (shape < 1) {
      return gamma(shape + 1) * Math.pow(1 - unit(), 1 / shape);
    }
    double d = shape - 1.0 / 3;
    double c = 1 / Math.sqrt(9 * d);
    while (true) {
      double normal = Math.sqrt(-2 * Math.log(1 - unit())) * Math.cos(2 * Math.PI * unit());
      double v = Math.pow(1 + c * normal, 3);
      if (v > 0 && Math.log(1 - unit()) < normal * normal / 2 + d - d * v + d * Math.log(v)) {
        return d * v;
      }
    }
  }

  boolean coin() {
    return random.nextLong() < 0;
  }
}
