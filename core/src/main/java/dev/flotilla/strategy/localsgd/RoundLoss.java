package dev.flotilla.strategy.localsgd;

import dev.flotilla.arena.Totals;
import dev.flotilla.state.State;

/** Loss and count of this rank's accumulation windows since the last average. */
final class RoundLoss {

  private final boolean isLastOnly;
  private double sum;
  private long count;

  /** Adds up all windows, or keeps the last one only. */
  RoundLoss(boolean isLastOnly) {
    this.isLastOnly = isLastOnly;
  }

  void saw(Totals window) {
    sum = (isLastOnly ? 0 : sum) + window.lossSum();
    count = (isLastOnly ? 0 : count) + window.count();
  }

  /** Returns the round's totals and begins a new one. */
  Totals end() {
    var round = new Totals(sum, count);
    sum = 0;
    count = 0;
    return round;
  }

  void remember(State own) {
    sum = own.real("loss_sum", sum);
    count = own.number("loss_count", count);
  }
}
