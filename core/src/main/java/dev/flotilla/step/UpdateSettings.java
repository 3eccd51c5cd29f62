package dev.flotilla.step;

import dev.flotilla.model.ParameterSpec;
import dev.flotilla.optim.Optimizer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * How parameters are updated, for a technique that updates them itself.
 *
 * @param optimizer the update rule
 * @param noDecay names that are not decayed, or null for the optimizer's own rule
 */
public record UpdateSettings(Optimizer optimizer, @Nullable Predicate<String> noDecay) {

  /** Returns the weight decay of a parameter. */
  public double decayOf(ParameterSpec spec) {
    return isDecayed(spec) ? optimizer.weightDecay() : 0;
  }

  boolean isDecayed(ParameterSpec spec) {
    if (noDecay != null) {
      return !noDecay.test(spec.name());
    }
    return optimizer.decaysBiasesAndNorms() || spec.kind() == ParameterSpec.Kind.WEIGHT;
  }
}
