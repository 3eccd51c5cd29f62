package dev.flotilla.train;

/** Adds up the time between starts and stops. */
final class Stopwatch {

  private double before;
  private long startedAt;
  private boolean running;

  /** Goes on from a number of seconds. */
  void start(double secondsBefore) {
    before = secondsBefore;
    startedAt = System.nanoTime();
    running = true;
  }

  void stop() {
    before = seconds();
    running = false;
  }

  double seconds() {
    return before + (running ? (System.nanoTime() - startedAt) / 1e9 : 0);
  }
}
