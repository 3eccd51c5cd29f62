package dev.flotilla.optim;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the parameters of a group have of their own, as numbers.
 *
 * @param weightDecay decay λ
 * @param lrFactor factor on the learning rate of an update
 * @param betas decay rates of moments, or null for the optimizer's
 * @param frozenEpochs epochs at the start in which they stay as they are
 */
public record GroupValues(
    double weightDecay, double lrFactor, @Nullable List<Double> betas, int frozenEpochs) {

  /** Returns values of parameters that are never frozen. */
  public GroupValues(double weightDecay, double lrFactor, @Nullable List<Double> betas) {
    this(weightDecay, lrFactor, betas, 0);
  }

  /** Returns values that differ from the optimizer's in the decay alone. */
  public static GroupValues ofWeightDecay(double weightDecay) {
    return new GroupValues(weightDecay, 1, null);
  }

  /** Returns the group's betas, or else the optimizer's. */
  List<Double> betasOr(List<Double> ofOptimizer) {
    return betas == null ? ofOptimizer : betas;
  }
}
