package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;

/**
 * The rate falls along half a cosine again and again (Loshchilov and Hutter, 2017, "SGDR"): e + (1
 * − e) (1 + cos(π t / T)) / 2, t updates after the last restart; each period T is a multiple of the
 * one before.
 *
 * @param warmupSteps updates of linear warm-up
 * @param period updates of the first period
 * @param multiple of each period to the one before
 * @param endFactor fraction e of the rate at the end of a period
 */
public record WarmRestarts(
    @Setting(doc = "updates of linear warm-up, >= 0", def = "0") long warmupSteps,
    @Setting(doc = "updates until the first restart, >= 1") long period,
    @Setting(doc = "how many times as long each period is as the one before, >= 1", def = "1")
        int multiple,
    @Setting(doc = "fraction of the learning rate at the end of a period, in [0, 1]", def = "0")
        double endFactor)
    implements Schedule {

  /** Checks the settings. */
  public WarmRestarts {
    Check.that(warmupSteps >= 0, "warmup_steps", "must be at least 0", warmupSteps)
        .and(period >= 1, "period", "must be at least 1", period)
        .and(multiple >= 1, "multiple", "must be at least 1", multiple)
        .and(endFactor >= 0 && endFactor <= 1, "end_factor", "must be in [0, 1]", endFactor)
        .orThrow();
  }

  @Override
  public boolean needsTotal() {
    return false;
  }

  @Override
  public double factorAfterWarmup(double progress, long update) {
    double length = period;
    double since = update;
    if (multiple == 1) {
      since = update % period;
    }
    while (since >= length) {
      since -= length;
      length *= multiple;
    }
    return endFactor + (1 - endFactor) * (1 + Math.cos(Math.PI * since / length)) / 2;
  }
}
