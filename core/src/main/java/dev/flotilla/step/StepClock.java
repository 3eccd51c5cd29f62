package dev.flotilla.step;

/** Adds up where the time of a rank's steps goes, on the thread that trains. */
public final class StepClock {

  /**
   * Where the time of a rank's steps went since it was started, in seconds of the thread that
   * trains.
   *
   * <p>On a GPU these are the times in which work is handed over to it, as nothing waits for the
   * device on purpose.
   *
   * @param forward forward passes with the loss
   * @param backward backward passes, with what they recompute
   * @param exchange waiting until gradients, or parameters, are reduced over ranks
   * @param update filters, the optimizer, moving averages
   * @param hidden part of backward in which buckets were reduced meanwhile
   */
  public record Seconds(
      double forward, double backward, double exchange, double update, double hidden) {}

  private long forward;
  private long backward;
  private long exchange;
  private long update;

  StepClock() {}

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

  Seconds seconds(long hidden) {
    return new Seconds(forward / 1e9, backward / 1e9, exchange / 1e9, update / 1e9, hidden / 1e9);
  }
}
