package dev.flotilla.engine;

/** Decides which micro-steps make a window, and what their gradients are divided by. */
public interface Accumulation {

  /** What follows a micro-step. */
  enum Decision {
    /** The window goes on. */
    CONTINUE,
    /** The window ends with an exchange and an update. */
    UPDATE,
    /** The window ends and its gradients are thrown away. */
    DISCARD
  }

  /** A window of one micro-step. */
  Accumulation NONE = (_, _, _) -> Decision.UPDATE;

  /**
   * Decides after a micro-step.
   *
   * @param microSteps micro-steps of the window, this one included
   * @param lastOfEpoch whether the epoch ends with this one
   * @param updates updates made so far
   */
  Decision after(int microSteps, boolean lastOfEpoch, long updates);

  /**
   * Returns what the mean gradient of a window is multiplied by: 1, or more where sums are wanted.
   */
  default double factor(int microSteps) {
    return 1;
  }
}
