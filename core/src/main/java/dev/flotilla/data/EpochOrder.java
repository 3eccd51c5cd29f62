package dev.flotilla.data;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The order in which one epoch visits the samples of a data set.
 *
 * <p>A shuffled order depends on the number of samples, the seed and the epoch, and on nothing
 * else: not on the number of ranks, not on what was loaded before. Resuming therefore needs no
 * state of a random generator.
 */
final class EpochOrder {

  private final int[] order;

  private EpochOrder(int[] order) {
    this.order = order;
  }

  /** Returns the order 0, 1, 2, … */
  static EpochOrder natural(int size) {
    var order = new int[size];
    Arrays.setAll(order, i -> i);
    return new EpochOrder(order);
  }

  /** Returns the shuffled order of an epoch, after Fisher and Yates. */
  static EpochOrder shuffled(int size, long seed, long epoch) {
    var order = natural(size).order;
    var random = new SplittableRandom(new SplittableRandom(seed).nextLong() ^ epoch);
    for (int i = size - 1; i > 0; i--) {
      int other = below(i + 1, random);
      int sample = order[i];
      order[i] = order[other];
      order[other] = sample;
    }
    return new EpochOrder(order);
  }

  /**
   * Draws from [0, bound). {@code nextInt(bound)} would do, but its algorithm has changed between
   * versions of the JDK; that of {@code nextLong} has not.
   */
  private static int below(int bound, SplittableRandom random) {
    return (int) Math.unsignedMultiplyHigh(random.nextLong(), bound);
  }

  int size() {
    return order.length;
  }

  int[] samples(int from, int to) {
    return Arrays.copyOfRange(order, from, to);
  }
}
