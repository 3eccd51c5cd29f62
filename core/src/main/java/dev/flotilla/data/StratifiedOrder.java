package dev.flotilla.data;

import java.util.Collection;
import java.util.Comparator;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.TreeMap;

/**
 * An order of samples in which classes are spread evenly: of the first p of n samples, a class of c
 * has more than p · c / n − 1 and fewer than p · c / n + 1.
 *
 * <p>The j-th sample of a class may come after place ⌊j n / c⌋ and must by ⌈(j + 1) n / c⌉. Of
 * those that may, the one that must first comes first: as one sample comes at a time, and shares
 * add up to one, all come in time (windows and rule are those of proportionate fair scheduling,
 * Baruah and others 1996).
 */
final class StratifiedOrder {

  /** The next sample of a class. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Next(int[] samples, int j, long n) {

    long release() {
      return j * n / samples.length;
    }

    long deadline() {
      return Math.ceilDiv((j + 1) * n, (long) samples.length);
    }

    int sample() {
      return samples[j];
    }

    boolean hasMore() {
      return j + 1 < samples.length;
    }

    Next following() {
      return new Next(samples, j + 1, n);
    }
  }

  private StratifiedOrder() {}

  /**
   * Returns all samples in such an order.
   *
   * @param labels the class of each sample
   */
  static int[] of(int[] labels, long seed, long epoch) {
    var waiting = new PriorityQueue<Next>(Comparator.comparingLong(Next::release));
    // The shuffle settles which of two equal deadlines comes first.
    var ready =
        new PriorityQueue<Next>(
            Comparator.comparingLong(Next::deadline).thenComparingInt(it -> it.samples()[0]));
    for (int[] samples : byClass(labels, seed, epoch)) {
      waiting.add(new Next(samples, 0, labels.length));
    }
    var order = new int[labels.length];
    for (int place = 0; place < order.length; place++) {
      while (!waiting.isEmpty() && waiting.peek().release() <= place) {
        ready.add(waiting.remove());
      }
      var next = ready.remove();
      order[place] = next.sample();
      if (next.hasMore()) {
        waiting.add(next.following());
      }
    }
    return order;
  }

  /** Returns the samples of each class in a shuffled order, classes by number. */
  private static Collection<int[]> byClass(int[] labels, long seed, long epoch) {
    var counts = new TreeMap<Integer, Integer>();
    for (int label : labels) {
      counts.merge(label, 1, Integer::sum);
    }
    var classes = new TreeMap<Integer, int[]>();
    counts.forEach((label, count) -> classes.put(label, new int[count]));
    var filled = new TreeMap<Integer, Integer>();
    for (int sample : EpochOrder.shuffledNumbers(labels.length, seed, epoch)) {
      int place = filled.merge(labels[sample], 1, Integer::sum) - 1;
      Objects.requireNonNull(classes.get(labels[sample]))[place] = sample;
    }
    return classes.values();
  }
}
