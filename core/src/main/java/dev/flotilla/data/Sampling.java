package dev.flotilla.data;

import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Which samples an epoch has, and in which order; a function of the epoch alone. */
sealed interface Sampling {

  /** Returns the samples of an epoch in their order, in batches of one size. */
  int[] order(Dataset data, int batch, long epoch);

  /** Returns the number of samples of an epoch. */
  default int count(Dataset data) {
    return data.size();
  }

  /** Returns what data that is augmented draws from. */
  long seed();

  /** Tells whether the order depends on the size of batches. */
  default boolean dependsOnBatch() {
    return false;
  }

  /** The order of the data set, in every epoch. */
  record InOrder() implements Sampling {

    @Override
    public int[] order(Dataset data, int batch, long epoch) {
      return IntStream.range(0, data.size()).toArray();
    }

    @Override
    public long seed() {
      return 0;
    }

    @Override
    public String toString() {
      return "in the order of the data";
    }
  }

  /** A new order in every epoch. */
  record Shuffled(long seed) implements Sampling {

    @Override
    public int[] order(Dataset data, int batch, long epoch) {
      return EpochOrder.shuffledNumbers(data.size(), seed, epoch);
    }

    @Override
    public String toString() {
      return "shuffled with seed " + seed;
    }
  }

  /** Samples drawn with replacement, a sample with its weight divided by the sum of all. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record Weighted(long seed, int draws, double[] sums) implements Sampling {

    static Weighted of(Dataset data, double[] weights, int draws, long seed) {
      if (weights.length != data.size()) {
        throw new IllegalArgumentException(
            "each sample needs a weight: there are %d weights and %d samples"
                .formatted(weights.length, data.size()));
      }
      if (draws < 1) {
        throw new IllegalArgumentException(
            "an epoch must draw at least 1 sample, but draws is " + draws);
      }
      var sums = new double[weights.length];
      double sum = 0;
      for (int i = 0; i < weights.length; i++) {
        if (!(weights[i] >= 0) || weights[i] == Double.POSITIVE_INFINITY) {
          throw new IllegalArgumentException(
              "weights must be finite and at least 0, but that of sample %d is %s"
                  .formatted(i, weights[i]));
        }
        sum += weights[i];
        sums[i] = sum;
      }
      if (!(sum > 0) || sum == Double.POSITIVE_INFINITY) {
        throw new IllegalArgumentException(
            "weights must have a finite sum above 0, but all %d add up to %s"
                .formatted(weights.length, sum));
      }
      return new Weighted(seed, draws, sums);
    }

    @Override
    public int[] order(Dataset data, int batch, long epoch) {
      var random = EpochOrder.random(seed, epoch);
      var order = new int[draws];
      Arrays.setAll(order, _ -> draw(random));
      return order;
    }

    /** Returns the first sample up to which weights add up to more than a random share. */
    private int draw(SplittableRandom random) {
      double total = sums[sums.length - 1];
      double share = (random.nextLong() >>> 11) * 0x1p-53 * total;
      // The product may round up to the sum itself, which no sample exceeds.
      double sought = Math.min(share, Math.nextDown(total));
      int low = 0;
      int high = sums.length - 1;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (sums[middle] > sought) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low;
    }

    @Override
    public int count(Dataset data) {
      return draws;
    }

    @Override
    public String toString() {
      return "%d weighted draws with seed %d and weights %08x"
          .formatted(draws, seed, Arrays.hashCode(sums));
    }
  }

  /** A new order in every epoch, in which classes are spread evenly. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record Stratified(long seed, int[] labels) implements Sampling {

    @Override
    public int[] order(Dataset data, int batch, long epoch) {
      return StratifiedOrder.of(labels, seed, epoch);
    }

    @Override
    public String toString() {
      return "stratified with seed " + seed;
    }
  }

  /**
   * Samples of like length together: a shuffled order is cut into pools of some batches, each pool
   * sorted by length and cut into batches, which come in a shuffled order. What is left over when
   * batches are full comes last, and is a random choice.
   */
  record ByLength(long seed) implements Sampling {

    private static final int BATCHES_IN_A_POOL = 50;

    @Override
    public int[] order(Dataset data, int batch, long epoch) {
      int[] shuffled = EpochOrder.shuffledNumbers(data.size(), seed, epoch);
      int full = data.size() / batch;
      int[] sorted = sorted(shuffled, full * batch, batch, data);
      var order = shuffled.clone();
      int[] turns = EpochOrder.shuffledNumbers(full, ~seed, epoch);
      for (int i = 0; i < full; i++) {
        System.arraycopy(sorted, turns[i] * batch, order, i * batch, batch);
      }
      return order;
    }

    private static int[] sorted(int[] shuffled, int end, int batch, Dataset data) {
      int pool = (int) Math.min((long) BATCHES_IN_A_POOL * batch, Integer.MAX_VALUE);
      var sorted = new int[end];
      for (int from = 0; from < end; from += Math.min(pool, end - from)) {
        int to = from + Math.min(pool, end - from);
        // Stable, so that equal lengths stay shuffled.
        int[] samples =
            Arrays.stream(shuffled, from, to)
                .boxed()
                .sorted(Comparator.comparingInt(data::tokens))
                .mapToInt(Integer::intValue)
                .toArray();
        System.arraycopy(samples, 0, sorted, from, samples.length);
      }
      return sorted;
    }

    @Override
    public boolean dependsOnBatch() {
      return true;
    }

    @Override
    public String toString() {
      return "by length with seed " + seed;
    }
  }
}
