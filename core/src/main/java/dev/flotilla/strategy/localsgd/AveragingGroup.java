package dev.flotilla.strategy.localsgd;

/** Who has parameters of its own between two averages. */
public enum AveragingGroup {
  /** Every rank. */
  RANK,
  /** Every host: its ranks exchange gradients at every update. */
  HOST
}
