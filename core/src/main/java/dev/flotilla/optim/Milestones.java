package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.util.List;

/**
 * The rate falls by a factor at stated updates: γ^k after the k-th of them.
 *
 * @param warmupSteps updates of linear warm-up
 * @param at updates after warm-up at which it falls
 * @param gamma factor γ of each fall
 */
public record Milestones(
    @Setting(doc = "updates of linear warm-up, >= 0", def = "0") long warmupSteps,
    @Setting(
            doc =
                "updates after warm-up at which the learning rate falls, in rising order, each >="
                    + " 1")
        List<Long> at,
    @Setting(doc = "factor on the learning rate at each fall, in (0, 1]", def = "0.1") double gamma)
    implements Schedule {

  /** Checks the settings. */
  public Milestones {
    at = List.copyOf(at);
    Check.that(warmupSteps >= 0, "warmup_steps", "must be at least 0", warmupSteps)
        .and(isRising(at), "at", "must be numbers of at least 1 that rise", at)
        .and(gamma > 0 && gamma <= 1, "gamma", "must be in (0, 1]", gamma)
        .orThrow();
  }

  /** Returns falls to a tenth, without warm-up. */
  public Milestones(Long... at) {
    this(0, List.of(at), 0.1);
  }

  private static boolean isRising(List<Long> at) {
    long before = 0;
    for (long next : at) {
      if (next <= before) {
        return false;
      }
      before = next;
    }
    return before > 0;
  }

  @Override
  public boolean needsTotal() {
    return false;
  }

  @Override
  public double factorAfterWarmup(double progress, long update) {
    return Math.pow(gamma, at.stream().filter(milestone -> milestone <= update).count());
  }
}
