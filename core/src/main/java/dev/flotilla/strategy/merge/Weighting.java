package dev.flotilla.strategy.merge;

/** What the gradient of an accumulation window is the mean of. */
public enum Weighting {
  /** Of all loss terms of the window and all ranks: the gradient of the one large batch. */
  TERMS,
  /** Of the micro-batches' means, each counting once whatever it holds, as Fleet computes it. */
  MICRO_BATCHES
}
