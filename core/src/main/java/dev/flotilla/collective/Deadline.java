package dev.flotilla.collective;

import java.time.Duration;
import java.util.Locale;

/** A point in time up to which something is polled, at first often and then less so. */
final class Deadline {

  private static final long LONGEST_PAUSE_MILLIS = 50;

  private final long start = System.nanoTime();
  private final Duration limit;
  private long pauseMillis = 1;

  private Deadline(Duration limit) {
    this.limit = limit;
  }

  static Deadline in(Duration limit) {
    return new Deadline(limit);
  }

  Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - start);
  }

  /** Returns what is left, at least one millisecond. */
  Duration left() {
    var left = limit.minus(elapsed());
    return left.toMillis() < 1 ? Duration.ofMillis(1) : left;
  }

  boolean hasPassed() {
    return elapsed().compareTo(limit) >= 0;
  }

  /** Sleeps a little; an interruption ends the wait for the others. */
  void pause() {
    try {
      Thread.sleep(Math.min(pauseMillis, left().toMillis()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RendezvousException("interrupted while waiting for the other ranks", e);
    }
    pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
  }

  /** Returns a duration for people, for example "2.0 s". */
  static String seconds(Duration duration) {
    return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1000.0);
  }
}
