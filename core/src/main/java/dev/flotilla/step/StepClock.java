package dev.flotilla.step;

/** Adds up where the time of a rank's steps goes, on the thread that trains. */
final class StepClock {

  private long forward;
  private long backward;
  private long exchange;
  private long update;

  static long now() {
    return System.nanoTime();
  }

  void forwardSince(long start) {
    forward += now() - start;
  }

  void backwardSince(long start) {
    backward += now() - start;
  }

  void exchangeSince(long start) {
    exchange += now() - start;
  }

  /** Returns what was spent in exchanges so far. */
  long exchange() {
    return exchange;
  }

  /** What a window's end takes is the update, but for its exchanges. */
  void updateSince(long start, long exchangeBefore) {
    update += now() - start - (exchange - exchangeBefore);
  }

  StepSeconds seconds(long hidden) {
    return new StepSeconds(
        forward / 1e9, backward / 1e9, exchange / 1e9, update / 1e9, hidden / 1e9);
  }
}
