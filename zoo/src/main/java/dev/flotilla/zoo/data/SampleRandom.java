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

  boolean coin() {
    return random.nextLong() < 0;
  }
}
