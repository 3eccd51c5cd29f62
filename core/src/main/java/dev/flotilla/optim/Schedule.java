package dev.flotilla.optim;

/**
 * A learning rate that changes with the number of updates.
 *
 * <p>Schedules count successful updates, never micro-steps or epochs.
 */
public interface Schedule {

  /** Returns the number of updates over which the rate rises linearly from near 0. */
  long warmupSteps();

  /** Tells whether the factor depends on the number of updates planned. */
  default boolean needsTotal() {
    return true;
  }

  /** Returns the factor after warm-up; {@code progress} runs from 0 to 1, {@code update} from 0. */
  double factorAfterWarmup(double progress, long update);

  /**
   * Returns the factor on the learning rate for an update.
   *
   * @param update number of updates already made
   * @param total number of updates planned
   */
  default double factor(long update, long total) {
    if (update < warmupSteps()) {
      return (update + 1.0) / warmupSteps();
    }
    long planned = Math.max(1, total - warmupSteps());
    double progress = Math.min(1, (double) (update - warmupSteps()) / planned);
    return factorAfterWarmup(progress, update - warmupSteps());
  }
}
