package dev.flotilla.engine;

/** Decides which micro-steps make a window. */
@FunctionalInterface
public interface Accumulation {

  /** A window of one micro-step. */
  Accumulation NONE = (_, _, _) -> true;

  /**
   * Tells whether a window ends.
   *
   * @param microSteps micro-steps of the window, this one included
   * @param lastOfEpoch whether the epoch ends with this one
   * @param updates updates made so far
   */
  boolean endsWindow(int microSteps, boolean lastOfEpoch, long updates);
}
