package dev.flotilla.train;

import dev.flotilla.settings.Check;

/**
 * The learning rates that {@link Trainer#findLearningRate} tries: each update has one that is so
 * many times as large as the one before.
 *
 * @param lowest rate of the first update
 * @param highest rate of the last update
 * @param updates how many are made
 */
public record LearningRateRange(double lowest, double highest, int updates) {

  /** Checks the numbers. */
  public LearningRateRange {
    Check.that(lowest > 0 && Double.isFinite(lowest), "from", "must be greater than 0", lowest)
        .and(
            highest > lowest && Double.isFinite(highest),
            "to",
            "must be greater than " + lowest,
            highest)
        .and(updates >= 10 && updates <= 100_000, "updates", "must be from 10 to 100000", updates)
        .orThrow();
  }

  /** From 1e-7 to 10 in 100 updates. */
  public static LearningRateRange defaults() {
    return new LearningRateRange(1e-7, 10, 100);
  }

  /** Returns the same from another rate on. */
  public LearningRateRange from(double rate) {
    return new LearningRateRange(rate, highest, updates);
  }

  /** Returns the same up to another rate. */
  public LearningRateRange to(double rate) {
    return new LearningRateRange(lowest, rate, updates);
  }

  /** Returns the same with another number of updates. */
  public LearningRateRange in(int count) {
    return new LearningRateRange(lowest, highest, count);
  }

  /** Returns the rate of an update, counted from 0. */
  double at(int update) {
    return lowest * Math.pow(highest / lowest, update / (updates - 1.0));
  }
}
