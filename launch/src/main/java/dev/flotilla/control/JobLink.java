package dev.flotilla.control;

import java.time.Duration;
import java.util.Optional;

/**
 * A rank's end of the control channel.
 *
 * <p>The training thread calls {@link #begin} before each micro-step and asks {@link #stopsAfter}
 * behind it. Both cost a few nanoseconds, except while the ranks agree on where to stop.
 */
public interface JobLink extends AutoCloseable {

  /** Returns a link to nobody, which never asks for a stop. */
  static JobLink none() {
    return new NoLink();
  }

  /**
   * Returns the link of this process: to its launcher, or, without one, a local one that only
   * listens to signals.
   *
   * <p>There is one per process, made at the first call. A process that is one of several ranks but
   * has no launcher gets {@link #none}: its ranks could not agree on where to stop.
   */
  static JobLink ofThisProcess() {
    return ThisProcess.LINK;
  }

  /**
   * Called by the training thread before each micro-step; waits only while a stop is being agreed
   * on (bounded).
   *
   * @param microStep number of the micro-step, growing by one
   * @param updates number of updates made so far
   */
  void begin(long microStep, long updates);

  /**
   * Tells whether the run must save its state and end after this micro-step; may wait for the
   * agreement, as {@link #begin} does.
   */
  boolean stopsAfter(long microStep);

  /**
   * Tells whether the ranks have agreed on where to stop, for what takes long between two
   * micro-steps; it never waits.
   */
  default boolean isStopDecided() {
    return false;
  }

  /** Notes what a rank is doing outside micro-steps (starting, saving, evaluating), for reports. */
  void doing(String activity);

  /**
   * Notes what a rank is doing before it trains, for reports; a signal still ends the process as it
   * always does.
   */
  default void preparing(String activity) {}

  /** Returns the ring of this rank's last collectives. */
  FlightRecorder collectives();

  /**
   * Returns what the launcher has said about the rank that failed first.
   *
   * @param longest how long to wait for it
   */
  default Optional<String> culprit(Duration longest) {
    return Optional.empty();
  }

  /**
   * Returns the values that the ranks of a job of several hosts leave for each other; empty where
   * no launcher carries them.
   */
  default Optional<SharedValues> values() {
    return Optional.empty();
  }

  /** Returns the key by which the ranks of this job know each other; empty without a launcher. */
  default Optional<JobKey> pairKey() {
    return Optional.empty();
  }

  /** Ends this training's part; the process stays linked, and another training may follow. */
  @Override
  void close();
}
