package dev.flotilla.strategy.compress;

import java.util.Arrays;
import java.util.List;

/**
 * Finds the k-th largest residual of a bucket for certain, by counting: two passes, whatever the
 * numbers are like.
 */
final class ExactKey {

  private static final int LOW_BITS = 15;
  private static final int LOW_MASK = (1 << LOW_BITS) - 1;

  private final int[] high = new int[1 << (Integer.SIZE - 1 - LOW_BITS)];
  private final int[] low = new int[1 << LOW_BITS];

  /** Returns the k-th largest size. */
  int find(List<Field> fields, int k) {
    Arrays.fill(high, 0);
    for (var field : fields) {
      for (int i = 0; i < field.length(); i++) {
        high[field.key(i) >>> LOW_BITS]++;
      }
    }
    int left = k;
    int top = high.length - 1;
    while (high[top] < left) {
      left -= high[top--];
    }
    return top << LOW_BITS | lowPart(fields, top, left);
  }

  private int lowPart(List<Field> fields, int top, int rank) {
    Arrays.fill(low, 0);
    for (var field : fields) {
      for (int i = 0; i < field.length(); i++) {
        int key = field.key(i);
        if (key >>> LOW_BITS == top) {
          low[key & LOW_MASK]++;
        }
      }
    }
    int left = rank;
    int part = low.length - 1;
    while (low[part] < left) {
      left -= low[part--];
    }
    return part;
  }
}
