package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;

/**
 * The rate falls by a factor every so many updates: γ^⌊u / every⌋.
 *
 * @param warmupSteps updates of linear warm-up
 * @param every updates between falls
 * @param gamma factor γ of each fall
 */
public record StepDecay(
    @Setting(doc = "updates of linear warm-up, >= 0", def = "0") long warmupSteps,
    @Setting(doc = "updates between two falls of the learning rate, >= 1") long every,
    @Setting(doc = "factor on the learning rate at each fall, in (0, 1]", def = "0.1") double gamma)
    implements Schedule {

  /** Checks the settings. */
  public StepDecay {
    Check.that(warmupSteps >= 0, "warmup_steps", "must be at least 0", warmupSteps)
        .and(every >= 1, "every", "must be at least 1", every)
        .and(gamma > 0 && gamma <= 1, "gamma", "must be in (0, 1]", gamma)
        .orThrow();
  }

  @Override
  public boolean needsTotal() {
    return false;
  }

  @Override
  public double factorAfterWarmup(double progress, long update) {
    return Math.pow(gamma, Math.floorDiv(update, every));
  }
}
