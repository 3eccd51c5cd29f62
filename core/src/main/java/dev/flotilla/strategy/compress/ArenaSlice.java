package dev.flotilla.strategy.compress;

/**
 * Consecutive elements of an arena that are treated alike.
 *
 * @param offset first element
 * @param length number of elements
 * @param decay weight decay λ of its parameters
 */
record ArenaSlice(long offset, long length, double decay) {

  long end() {
    return offset + length;
  }

  /** Returns the part that lies between two indices; its length is 0 if there is none. */
  ArenaSlice between(long from, long to) {
    long start = Math.max(offset, from);
    return new ArenaSlice(start, Math.max(0, Math.min(end(), to) - start), decay);
  }
}
