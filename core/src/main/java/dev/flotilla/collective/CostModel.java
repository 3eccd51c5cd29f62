package dev.flotilla.collective;

/**
 * Bytes that one rank puts on the wire, by the algorithms Gloo uses for dense tensors: payload
 * alone, without headers and acknowledgements.
 */
final class CostModel {

  private CostModel() {}

  /** A ring: every rank passes on all but its own n-th of the data, twice. */
  static long allReduce(int size, long bytes) {
    return 2L * (size - 1) * bytes / size;
  }

  /**
   * A ring: every rank passes on all parts but one; with slices, it sends its own to each other.
   */
  static long allGather(int size, long partBytes) {
    return (size - 1) * partBytes;
  }

  /** Every rank sends all slices but its own. */
  static long reduceScatter(long bytes, long ownBytes) {
    return bytes - ownBytes;
  }

  /** Every rank sends each other rank its slice. */
  static long allToAll(int size, long bytes) {
    return (size - 1) * bytes / size;
  }

  /**
   * A binomial tree below the root. In round i, the 2^i ranks that have the data send all of it to
   * the rank 2^i places further; so the root sends it ceil(log2 n) times, and half of the ranks
   * never.
   */
  static long broadcast(int size, int rank, int root, long bytes) {
    int place = Math.floorMod(rank - root, size);
    long sends = 0;
    for (int step = 1; step < size; step <<= 1) {
      if (place < step && place + step < size) {
        sends++;
      }
    }
    return sends * bytes;
  }
}
