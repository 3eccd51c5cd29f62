package dev.flotilla.strategy.compress;

/** How the entries to send are found. */
public enum Selection {
  /**
   * By a threshold from a sample, or from the step before, corrected when it keeps too many or few.
   */
  SAMPLED,
  /** Exactly the k largest. */
  EXACT
}
