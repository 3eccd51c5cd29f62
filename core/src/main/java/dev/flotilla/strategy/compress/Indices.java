package dev.flotilla.strategy.compress;

/** How places travel. */
public enum Indices {
  /** In 32 bits each. */
  INT32,
  /** As differences to the one before, in about log2(n / k) + 2 bits each. */
  PACKED
}
