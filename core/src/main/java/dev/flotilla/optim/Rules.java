package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import java.util.List;

/** Settings that several optimizers share: what recipes say of them, and their checks. */
final class Rules {

  static final String LR = "learning rate before the schedule, > 0";
  static final String WEIGHT_DECAY = "weight decay, >= 0";
  static final String SCALE_LR = "scale the learning rate with the batch: none, linear or sqrt";
  static final String BASE_BATCH =
      "samples per update for which lr was found; needed with scale_lr";
  static final String BETAS = "decay rates of the two moments, each in [0, 1)";

  private Rules() {}

  static Check check(double lr, double weightDecay) {
    return Check.that(lr > 0, "lr", "must be greater than 0", lr)
        .and(weightDecay >= 0, "weight_decay", "must be at least 0", weightDecay);
  }

  static Check checkBetas(Check before, List<Double> betas) {
    boolean twoRates = betas.size() == 2 && betas.stream().allMatch(beta -> beta >= 0 && beta < 1);
    return before.and(twoRates, "betas", "must be two numbers, each in [0, 1)", betas);
  }

  static Check checkAdam(double lr, List<Double> betas, double eps, double weightDecay) {
    return checkBetas(check(lr, weightDecay), betas)
        .and(eps > 0, "eps", "must be greater than 0", eps);
  }
}
