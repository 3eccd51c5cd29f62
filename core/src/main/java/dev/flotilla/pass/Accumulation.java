package dev.flotilla.pass;

/**
 * Decides which micro-steps make an accumulation window, and what their gradients are divided by.
 */
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

  /** Returns the micro-steps of a full window that follows so many updates. */
  default int microSteps(long updates) {
    return 1;
  }

  /** Returns the number of updates after which all full windows are equally long. */
  default long settledAfter() {
    return 0;
  }

  /**
   * Returns what the mean gradient of a window is multiplied by: 1, or more where sums are wanted.
   */
  default double factor(int microSteps) {
    return 1;
  }

  /** Called when an epoch has ended with an incomplete window; says what becomes of it. */
  default void epochEndedInside(int microSteps, long updates) {}
}
