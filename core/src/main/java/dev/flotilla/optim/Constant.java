package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;

/**
 * The same rate throughout, after warm-up.
 *
 * @param warmupSteps updates of linear warm-up
 */
public record Constant(@Setting(doc = "updates of linear warm-up, >= 0") long warmupSteps)
    implements Schedule {

  /** Checks the settings. */
  public Constant {
    Check.that(warmupSteps >= 0, "warmup_steps", "must be at least 0", warmupSteps).orThrow();
  }

  /** Returns the same rate from the first update on. */
  public Constant() {
    this(0);
  }

  @Override
  public boolean needsTotal() {
    return false;
  }

  @Override
  public double factorAfterWarmup(double progress, long update) {
    return 1;
  }
}
