package dev.flotilla.strategy.compress;

/** How the indices of entries are encoded. */
public enum IndexFormat {
  /** In 32 bits each. */
  INT32,
  /** As differences to the one before, in about log2(n / k) + 2 bits each. */
  PACKED
}
