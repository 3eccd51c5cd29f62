package dev.flotilla.strategy.localsgd;

import dev.flotilla.state.State;

/** Counts updates and says after which of them ranks average. */
final class SyncSteps {

  private final int beginStep;
  private long made;
  private long last;
  private long beforeLast;

  SyncSteps(int beginStep) {
    this.beginStep = beginStep;
  }

  /** Counts an update and tells whether an average follows it. */
  boolean isDue(int interval) {
    made++;
    return made <= beginStep || made - last >= interval;
  }

  /** Takes note of an average after the update just counted. */
  void averaged() {
    beforeLast = last;
    last = made;
  }

  long made() {
    return made;
  }

  /** Returns the updates between the last two averages. */
  long lastInterval() {
    return last - beforeLast;
  }

  /** Tells whether the averages are still those of the start, one after every update. */
  boolean isStart() {
    return made <= beginStep;
  }

  /** Returns how many updates have been made since the last average. */
  long sinceAverage() {
    return made - last;
  }

  /** Tells whether a multiple of a number has been reached since the average before the last. */
  boolean hasPassedMultiple(long every) {
    return last / every > beforeLast / every;
  }

  void remember(State state) {
    made = state.number("made", made);
    last = state.number("last", last);
    beforeLast = state.number("before_last", beforeLast);
  }
}
