package dev.flotilla.strategy.localsgd;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;

/**
 * Takes the mean difference of a round for a gradient (DiLoCo: Douillard et al., 2023).
 *
 * <p>Δ = mean over ranks of θ − wᵣ, with θ the parameters that all ranks held when the round began;
 * all ranks go on from the updated θ. With {@code {name: sgd, lr: 1}} that is the average.
 *
 * @param name the rule
 * @param lr learning rate η
 * @param momentum factor m; without meaning for sgd
 */
public record OuterOptimizer(
    @Setting(doc = "rule of the outer update: sgd or nesterov", def = "nesterov") OuterRule name,
    @Setting(doc = "learning rate of the outer update, > 0", def = "0.7") double lr,
    @Setting(
            doc = "fraction of the velocity that is kept from round to round, in [0, 1)",
            def = "0.9")
        double momentum) {

  /** Checks the settings. */
  public OuterOptimizer {
    Check.that(lr > 0 && Double.isFinite(lr), "lr", "must be greater than 0", lr)
        .and(momentum >= 0 && momentum < 1, "momentum", "must be in [0, 1)", momentum)
        .orThrow();
  }
}
