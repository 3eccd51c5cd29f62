package dev.flotilla.strategy.compress;

import java.util.List;

/** Estimates a threshold from every two-hundredth residual, or from more of few. */
final class Sample {

  private static final int EVERY = 200;
  private static final int LEAST = 1 << 16;

  private int[] keys = new int[0];

  /**
   * Returns a size that about so many residuals exceed.
   *
   * @param elements number of residuals
   */
  int threshold(List<Field> fields, long elements, long wanted) {
    int stride = stride(elements);
    int count = take(fields, elements, stride);
    int rank = (int) rank(wanted, count, elements);
    return Math.max(0, TopKeys.kthLargest(keys, count, rank) - 1);
  }

  /** Returns which of a sample is as large as the last one wanted of all. */
  static long rank(long wanted, long count, long elements) {
    return Math.clamp(Math.round((double) wanted * count / elements), 1L, count);
  }

  /** Returns how far the residuals of a sample are apart. */
  static int stride(long elements) {
    long size = Math.max(elements / EVERY, Math.min(elements, LEAST));
    // An odd stride does not keep step with rows and channels, which are often powers of two.
    return (int) Math.max(1, elements / size) | 1;
  }

  private int take(List<Field> fields, long elements, int stride) {
    int most = (int) (elements / stride) + 1;
    if (keys.length < most) {
      keys = new int[most];
    }
    int count = 0;
    int next = 0;
    for (var field : fields) {
      for (; next < field.length(); next += stride) {
        keys[count++] = field.key(next);
      }
      next -= field.length();
    }
    return count;
  }
}
