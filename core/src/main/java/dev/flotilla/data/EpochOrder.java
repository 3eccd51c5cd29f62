package dev.flotilla.data;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The order in which one epoch visits the samples of a data set, and where its batches begin.
 *
 * <p>A shuffled order depends on the number of samples, the seed and the epoch, and on nothing
 * else: not on the number of ranks, not on what was loaded before. Resuming therefore needs no
 * state of a random generator.
 */
final class EpochOrder {

  private final int[] order;
  private final int[] starts;

  /**
   * Creates an order.
   *
   * @param starts the place of each batch's first sample, and the place after the last sample
   */
  EpochOrder(int[] order, int[] starts) {
    this.order = order;
    this.starts = starts;
  }

  /** Returns an order in batches of one size, the last one possibly smaller. */
  static EpochOrder even(int[] order, int batch) {
    return new EpochOrder(order, evenStarts(order.length, batch));
  }

  private static int[] numbers(int size) {
    var numbers = new int[size];
    Arrays.setAll(numbers, i -> i);
    return numbers;
  }

  private static int[] evenStarts(int size, int batch) {
    var starts = new int[Math.toIntExact(BatchSource.batches(size, batch)) + 1];
    Arrays.setAll(starts, i -> (int) Math.min((long) i * batch, size));
    return starts;
  }

  /** Returns 0 to size - 1, shuffled after Fisher and Yates. */
  static int[] shuffledNumbers(int size, long seed, long epoch) {
    var order = numbers(size);
    var random = random(seed, epoch);
    for (int i = size - 1; i > 0; i--) {
      int other = below(i + 1, random);
      int sample = order[i];
      order[i] = order[other];
      order[other] = sample;
    }
    return order;
  }

  /** Returns what an epoch draws from. */
  static SplittableRandom random(long seed, long epoch) {
    return new SplittableRandom(new SplittableRandom(seed).nextLong() ^ epoch);
  }

  /**
   * Draws from [0, bound). {@code nextInt(bound)} would do, but its algorithm has changed between
   * versions of the JDK; that of {@code nextLong} has not.
   */
  static int below(int bound, SplittableRandom random) {
    return (int) Math.unsignedMultiplyHigh(random.nextLong(), bound);
  }

  /** Returns the first so many batches of this order. */
  EpochOrder first(int batches) {
    return new EpochOrder(order, Arrays.copyOf(starts, batches + 1));
  }

  /** Returns the number of batches. */
  int batches() {
    return starts.length - 1;
  }

  /** Returns the number of samples of a batch. */
  int batchSize(int batch) {
    return starts[batch + 1] - starts[batch];
  }

  /** Returns the samples from one place to another within a batch. */
  int[] samples(int batch, int from, int to) {
    return Arrays.copyOfRange(order, starts[batch] + from, starts[batch] + to);
  }
}
