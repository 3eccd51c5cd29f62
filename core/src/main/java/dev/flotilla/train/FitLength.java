package dev.flotilla.train;

import dev.flotilla.optim.ScheduleUnit;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Remedy;
import dev.flotilla.step.UpdateCount;

/**
 * How long a fit is, known before it begins.
 *
 * @param epochs how many it has, if every accumulation window ends in an update
 * @param updates how many it makes
 */
record FitLength(int epochs, long updates) {

  /** Far more than any run makes, and far from where numbers overflow. */
  private static final long MOST = Long.MAX_VALUE / 2;

  /**
   * Finds the length.
   *
   * @param epochs asked for
   * @param limit updates asked for instead, or 0
   * @param microSteps of an epoch
   * @param count counts the updates of epochs
   * @throws ConfigException if it would come to nothing
   */
  static FitLength of(int epochs, long limit, long microSteps, UpdateCount count) {
    if (limit > 0) {
      long needed =
          count
              .epochsFor(limit)
              .orElseThrow(
                  () ->
                      inVain(
                          "max_steps",
                          "%d updates are never reached".formatted(limit),
                          microSteps));
      return new FitLength((int) Math.min(Integer.MAX_VALUE, needed), Math.min(limit, MOST));
    }
    // A window that is carried on may fill up in the next fit; one that is dropped never does.
    if (count.epochsFor(1).isEmpty()) {
      throw inVain("epochs", "no update is ever made", microSteps);
    }
    return new FitLength(epochs, Math.min(count.in(epochs), MOST));
  }

  /**
   * Returns the length of a fit on a stream, which is known if updates are asked for.
   *
   * @throws ConfigException if the learning rate depends on a number that nobody knows
   */
  static FitLength ofStream(int epochs, long limit, TrainerSettings settings) {
    boolean needsTotal =
        settings.schedule().needsTotal() && settings.scheduleUnit() == ScheduleUnit.UPDATE;
    if (limit == 0 && needsTotal) {
      throw new ConfigException(
          "schedule",
          settings.schedule()
              + " needs the number of updates, which a stream does not tell: end after a number of"
              + " them with loop(it -> it.endAfterUpdates(n)), or let the schedule count epochs");
    }
    return limit > 0
        ? new FitLength(Integer.MAX_VALUE, Math.min(limit, MOST))
        : new FitLength(epochs, MOST);
  }

  /** Tells whether the number of updates is known, and not just that there is an end. */
  boolean isKnown() {
    return updates < MOST;
  }

  private static ConfigException inVain(String key, String what, long microSteps) {
    return new ConfigException(
        key,
        "%s: an epoch has %d micro-steps, which do not fill an accumulation window; lower the batch, or %s"
            .formatted(what, microSteps, Remedy.FULL_WINDOWS.named()));
  }
}
