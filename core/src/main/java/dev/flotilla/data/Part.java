package dev.flotilla.data;

/**
 * The contiguous part of a list of samples that one rank takes.
 *
 * <p>Rank r of N takes [r·n/N, (r+1)·n/N) of n samples: the parts touch, do not overlap, and their
 * sizes differ by one at most.
 *
 * @param from first sample
 * @param to sample after the last one
 */
record Part(int from, int to) {

  static Part of(int samples, int rank, int ranks) {
    if (ranks < 1 || rank < 0 || rank >= ranks) {
      throw new IllegalArgumentException(
          "rank must be in [0, %d), but was %d".formatted(ranks, rank));
    }
    return new Part(bound(samples, rank, ranks), bound(samples, rank + 1, ranks));
  }

  private static int bound(int samples, int rank, int ranks) {
    return (int) ((long) samples * rank / ranks);
  }

  int size() {
    return to - from;
  }
}
