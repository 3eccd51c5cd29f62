package dev.flotilla.app.advise;

/** What of an exchange lies behind computing. */
public enum Overlap {
  /** Nothing: ranks exchange after backward. */
  NONE,
  /** Buckets leave while backward goes on. */
  BACKWARD,
  /** Sums are scattered behind backward, parameters gathered behind the next forward pass. */
  BOTH,
  /** Parameters are gathered behind forward and backward, and sums scattered behind backward. */
  GATHERED
}
