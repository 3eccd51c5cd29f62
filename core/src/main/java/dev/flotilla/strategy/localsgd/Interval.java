package dev.flotilla.strategy.localsgd;

import dev.flotilla.arena.Totals;
import dev.flotilla.state.RunState;

/** Decides how many updates ranks make between two averages. */
sealed interface Interval permits FixedInterval, AdaptiveInterval {

  /** Returns the present interval. */
  int updates();

  /**
   * Tells whether it looks at the last accumulation window before an average only, not at the whole
   * round.
   */
  default boolean looksAtLastWindow() {
    return false;
  }

  /**
   * Decides anew; all ranks give the same numbers.
   *
   * @param totals of all ranks
   * @param lr the learning rate
   * @param update updates made so far
   */
  default void adapt(Totals totals, double lr, long update) {}

  /** Puts down, or takes up, what it remembers. */
  default void remember(RunState state) {}
}
