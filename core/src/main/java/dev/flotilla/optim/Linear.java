package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;

/**
 * The rate falls in a straight line: e + (1 − e) (1 − p) at progress p.
 *
 * @param warmupSteps updates of linear warm-up
 * @param endFactor fraction e of the rate at the end
 */
public record Linear(
    @Setting(doc = "updates of linear warm-up, >= 0") long warmupSteps,
    @Setting(doc = "fraction of the learning rate at the end, in [0, 1]") double endFactor)
    implements Schedule {

  /** Checks the settings. */
  public Linear {
    Check.that(warmupSteps >= 0, "warmup_steps", "must be at least 0", warmupSteps)
        .and(endFactor >= 0 && endFactor <= 1, "end_factor", "must be in [0, 1]", endFactor)
        .orThrow();
  }

  /** Returns a fall to zero without warm-up. */
  public Linear() {
    this(0, 0);
  }

  @Override
  public double factorAfterWarmup(double progress, long update) {
    return endFactor + (1 - endFactor) * (1 - progress);
  }
}
