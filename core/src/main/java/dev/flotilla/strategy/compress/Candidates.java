package dev.flotilla.strategy.compress;

/** Indices of a bucket whose residual exceeds a threshold, in ascending order. */
final class Candidates {

  private static final int BLOCK = 1024;
  private static final int GROUP = 64;

  private final int[] block = new int[BLOCK];
  private int[] indices = new int[0];
  private int count;

  /** Makes room for so many. */
  void allocate(int limit) {
    indices = new int[limit];
  }

  int[] indices() {
    return indices;
  }

  /** Returns how many exceed the threshold, which may be more than there is room for. */
  int count() {
    return count;
  }

  boolean isOverfull() {
    return count > indices.length;
  }

  void clear() {
    count = 0;
  }

  /** Keeps the first indices, and forgets the rest. */
  void count(int written) {
    count = written;
  }

  /** Adds what exceeds a threshold in one slice. */
  void scan(Field field, int threshold) {
    for (int from = 0; from < field.length(); from += BLOCK) {
      scan(field, from, Math.min(BLOCK, field.length() - from), threshold);
    }
  }

  /** Adds what exceeds a threshold in a block of a slice. */
  void scan(Field field, int from, int length, int threshold) {
    field.residualBits().get(from, block, 0, length);
    for (int group = 0; group < length; group += GROUP) {
      int end = Math.min(group + GROUP, length);
      if (anyAbove(block, group, end, threshold)) {
        addAbove(field.start() + from, group, end, threshold);
      }
    }
  }

  /** Without a branch in its loop, so that it is compiled to vector instructions. */
  private static boolean anyAbove(int[] keys, int from, int to, int threshold) {
    int signs = 0;
    for (int i = from; i < to; i++) {
      signs |= threshold - (keys[i] & TopKeys.WITHOUT_SIGN);
    }
    return signs < 0;
  }

  private void addAbove(int start, int from, int to, int threshold) {
    for (int i = from; i < to; i++) {
      if ((block[i] & TopKeys.WITHOUT_SIGN) > threshold) {
        add(start + i);
      }
    }
  }

  private void add(int index) {
    if (count < indices.length) {
      indices[count] = index;
    }
    count++;
  }
}
