package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;

/**
 * The rate falls polynomially: e + (1 − e) (1 − p)^power at progress p.
 *
 * @param warmupSteps updates of linear warm-up
 * @param power exponent
 * @param endFactor fraction e of the rate at the end
 */
public record Polynomial(
    @Setting(doc = "updates of linear warm-up, >= 0", def = "0") long warmupSteps,
    @Setting(doc = "exponent of the curve by which the learning rate falls, > 0", def = "1")
        double power,
    @Setting(doc = "fraction of the learning rate at the end, in [0, 1]", def = "0")
        double endFactor)
    implements Schedule {

  /** Checks the settings. */
  public Polynomial {
    Check.that(warmupSteps >= 0, "warmup_steps", "must be at least 0", warmupSteps)
        .and(power > 0, "power", "must be greater than 0", power)
        .and(endFactor >= 0 && endFactor <= 1, "end_factor", "must be in [0, 1]", endFactor)
        .orThrow();
  }

  @Override
  public double factorAfterWarmup(double progress, long update) {
    return endFactor + (1 - endFactor) * Math.pow(1 - progress, power);
  }
}
