package dev.flotilla.strategy.localsgd;

import java.time.Duration;

/**
 * How long ranks wait for each other at an average.
 *
 * <p>Ranks that do not meet for a whole round drift apart in time, by more the longer the round is.
 * So the wait is the collectives' own plus twice the longest round that a rank has told of: the
 * slowest rank may take three times as long as the fastest. It grows by doubling, as the native
 * options of each length are kept.
 */
final class SyncTimeout {

  private double roundSeconds;

  /** Takes note of a round that has taken so long on this rank. */
  void roundTook(double seconds) {
    roundSeconds = seconds;
  }

  /** Takes note of the rounds of all ranks; a slow rank is slow in the next round, too. */
  void roundsTook(double[] seconds) {
    for (double other : seconds) {
      roundSeconds = Math.max(roundSeconds, other);
    }
  }

  /** Returns the wait for a group with this timeout. */
  Duration longest(Duration timeout) {
    double ratio = 1 + 2 * roundSeconds * 1e9 / timeout.toNanos();
    long doublings = Math.round(Math.log(ratio) / Math.log(2));
    return timeout.multipliedBy(1L << Math.clamp(doublings, 0, 20));
  }
}
