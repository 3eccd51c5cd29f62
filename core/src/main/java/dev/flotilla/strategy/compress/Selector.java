package dev.flotilla.strategy.compress;

import java.util.List;

/**
 * Chooses the entries of a bucket that are sent: of those above a threshold, the k largest.
 *
 * <p>The threshold comes from the step before and aims at two and a half times k entries: the
 * largest leave, and of the others not all are as large in the next step. When it keeps more than
 * there is room for, or too few, it is estimated anew from a sample; when that fails twice, as with
 * many equal residuals, it is found exactly.
 */
final class Selector {

  /** Nothing exceeds it. */
  static final int NO_THRESHOLD = TopKeys.key(Float.POSITIVE_INFINITY);

  /** How often a threshold is estimated before all is looked at. */
  static final int SAMPLES = 2;

  /** So many times k are narrowed down sooner than a new threshold is found. */
  static final long MOST = 8;

  private static final float LOWER = 0.98f;
  private static final float MUCH_LOWER = 0.95f;

  private final Selection selection;
  private final Candidates found = new Candidates();
  private final Sample sample = new Sample();
  private int[] keys = new int[0];
  private int[] shuffled = new int[0];
  private long rescans;

  Selector(Selection selection) {
    this.selection = selection;
  }

  /** Tells whether so many candidates are enough. A threshold of zero has found all there are. */
  static boolean suffice(Selection selection, long count, int k, int threshold) {
    return threshold == 0 || count >= (selection == Selection.EXACT ? k : k - k / 5L);
  }

  /** Makes room for choosing at most k of n. */
  void allocate(int k, long n) {
    int limit = (int) Math.min(n, MOST * k + 64);
    found.allocate(limit);
    keys = new int[limit];
    shuffled = new int[limit];
  }

  /** Returns how many entries a threshold aims at. */
  static long wanted(int k) {
    return 2L * k + k / 2 + 1;
  }

  /** Returns where the pass over memory notes what it finds. */
  Candidates candidates() {
    return found;
  }

  /** Returns how often the residuals had to be looked at a second time. */
  long rescans() {
    return rescans;
  }

  /**
   * Narrows the candidates that a threshold has found down to the k to send.
   *
   * @return the threshold for the next step
   */
  int choose(List<Field> fields, long elements, int k, int threshold) {
    int used = threshold;
    for (int samples = 0;
        found.isOverfull() || !suffice(selection, found.count(), k, used);
        samples++) {
      rescans++;
      if (samples == SAMPLES) {
        return takeExactly(fields, k);
      }
      used = sample.threshold(fields, elements, wanted(k));
      scan(fields, used);
    }
    return narrow(fields, k, used);
  }

  private void scan(List<Field> fields, int threshold) {
    found.clear();
    for (var field : fields) {
      found.scan(field, threshold);
    }
  }

  private int takeExactly(List<Field> fields, int k) {
    int smallest = new ExactKey().find(fields, k);
    // Those above it are fewer than k; equal ones fill up, the first of them first.
    found.clear();
    int above = 0;
    for (var field : fields) {
      above += count(field, smallest);
    }
    int ties = smallest == 0 ? 0 : k - above;
    int written = 0;
    for (var field : fields) {
      for (int i = 0; i < field.length(); i++) {
        int key = field.key(i);
        if (key > smallest || (key == smallest && ties-- > 0)) {
          found.indices()[written++] = field.start() + i;
        }
      }
    }
    found.count(written);
    return lowered(smallest, false);
  }

  private static int count(Field field, int threshold) {
    int count = 0;
    for (int i = 0; i < field.length(); i++) {
      count += field.key(i) > threshold ? 1 : 0;
    }
    return count;
  }

  private int narrow(List<Field> fields, int k, int threshold) {
    int count = found.count();
    if (count <= k) {
      return lowered(threshold, count < k);
    }
    readKeys(fields, count);
    System.arraycopy(keys, 0, shuffled, 0, count);
    int smallest = TopKeys.kthLargest(shuffled, count, k);
    int next =
        count >= wanted(k)
            ? Math.max(0, TopKeys.kthLargest(shuffled, count, (int) wanted(k)) - 1)
            : lowered(threshold, false);
    dropBelow(k, smallest);
    return next;
  }

  /** Returns a smaller threshold, much smaller where it has found too few. */
  static int lowered(int threshold, boolean foundTooFew) {
    float factor = foundTooFew ? MUCH_LOWER : LOWER;
    return TopKeys.key(Float.intBitsToFloat(threshold) * factor);
  }

  private void readKeys(List<Field> fields, int count) {
    int i = 0;
    for (var field : fields) {
      for (; i < count && field.holds(found.indices()[i]); i++) {
        keys[i] = field.key(found.indices()[i] - field.start());
      }
    }
  }

  /** Keeps the indices of the k largest in their order; of equal ones, the first. */
  private void dropBelow(int k, int smallest) {
    int count = found.count();
    int above = 0;
    for (int i = 0; i < count; i++) {
      above += keys[i] > smallest ? 1 : 0;
    }
    int ties = k - above;
    int written = 0;
    for (int i = 0; i < count; i++) {
      if (keys[i] > smallest || (keys[i] == smallest && ties-- > 0)) {
        found.indices()[written++] = found.indices()[i];
      }
    }
    found.count(written);
  }
}
