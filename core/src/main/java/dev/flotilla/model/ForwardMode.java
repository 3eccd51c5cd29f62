package dev.flotilla.model;

/** Why a segment runs forward. */
public enum ForwardMode {
  /** In training: dropout draws, running statistics move. */
  TRAIN,
  /** Again in backward, for recompute: dropout draws the same, running statistics stay. */
  RECOMPUTE,
  /** In evaluation: no dropout, running statistics are used. */
  EVALUATE;

  /** Tells whether layers behave as in training. */
  public boolean isTraining() {
    return this != EVALUATE;
  }
}
