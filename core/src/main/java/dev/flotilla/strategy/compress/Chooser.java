package dev.flotilla.strategy.compress;

import java.util.Map;

/**
 * Decides between exchanges from predicted times, and not back and forth: a change must promise a
 * tenth, twice in a row.
 */
final class Chooser {

  private static final double GAIN = 0.9;

  private ExchangeMode current = ExchangeMode.DENSE;
  private ExchangeMode proposed = ExchangeMode.DENSE;
  private boolean hasChosen;

  ExchangeMode current() {
    return current;
  }

  /** Takes up what an earlier run had chosen. */
  void current(ExchangeMode mode, boolean chosen) {
    current = mode;
    proposed = mode;
    hasChosen = chosen;
  }

  boolean hasChosen() {
    return hasChosen;
  }

  /** Returns whether the mode changes. */
  boolean decide(Map<ExchangeMode, Double> seconds) {
    var best = current;
    for (var mode : seconds.keySet()) {
      best = at(seconds, mode) < at(seconds, best) ? mode : best;
    }
    if (at(seconds, best) >= GAIN * at(seconds, current)) {
      best = current;
    }
    boolean changes = best != current && (!hasChosen || best == proposed);
    proposed = best;
    hasChosen = true;
    if (changes) {
      current = best;
    }
    return changes;
  }

  private static double at(Map<ExchangeMode, Double> seconds, ExchangeMode mode) {
    return seconds.getOrDefault(mode, Double.POSITIVE_INFINITY);
  }
}
