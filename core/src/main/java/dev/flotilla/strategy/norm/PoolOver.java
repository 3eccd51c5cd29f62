package dev.flotilla.strategy.norm;

/** The samples that count as one batch for BatchNorm. */
public enum PoolOver {
  /** Those of one micro-batch on one rank, as everywhere else. */
  MICRO_BATCH,
  /** Those of a whole accumulation window on all ranks. */
  WHOLE_WINDOW,
  /** Those of one micro-step on all ranks. */
  SYNC
}
