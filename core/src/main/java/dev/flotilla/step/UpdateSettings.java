package dev.flotilla.step;

import dev.flotilla.model.Model;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.optim.GroupSettings;
import dev.flotilla.optim.GroupValues;
import dev.flotilla.optim.Groups;
import dev.flotilla.optim.Optimizer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * How parameters are updated, for a technique that updates them itself.
 *
 * @param optimizer the update rule
 * @param noDecay names that are not decayed, or null for the optimizer's own rule
 * @param groups parameters with settings of their own
 * @param layerFactors by parameter, the factor on its rate for its place in the model
 * @param epoch epochs that are over
 */
public record UpdateSettings(
    Optimizer optimizer,
    @Nullable Predicate<String> noDecay,
    Groups groups,
    Map<String, Double> layerFactors,
    LongSupplier epoch) {

  /** Copies the factors. */
  public UpdateSettings {
    layerFactors = Map.copyOf(layerFactors);
  }

  /** Gives all parameters the optimizer's settings. */
  public UpdateSettings(Optimizer optimizer, @Nullable Predicate<String> noDecay) {
    this(optimizer, noDecay, Groups.none(), Map.of(), () -> 0);
  }

  /** Finds the place of each parameter in a model. */
  public UpdateSettings(
      Optimizer optimizer,
      @Nullable Predicate<String> noDecay,
      Groups groups,
      Model model,
      LongSupplier epoch) {
    this(optimizer, noDecay, groups, layerFactors(model, groups.layerDecay()), epoch);
  }

  /** The last segment with parameters keeps the rate; one that shares a tensor counts first. */
  private static Map<String, Double> layerFactors(Model model, double decay) {
    Map<String, Double> factors = new HashMap<>();
    if (decay == 1) {
      return factors;
    }
    var layers =
        model.segments().stream().filter(segment -> !segment.parameters().isEmpty()).toList();
    for (int i = 0; i < layers.size(); i++) {
      double factor = Math.pow(decay, layers.size() - 1.0 - i);
      layers.get(i).parameters().forEach(spec -> factors.putIfAbsent(spec.name(), factor));
    }
    return factors;
  }

  /** Returns the weight decay of a parameter. */
  public double decayOf(ParameterSpec spec) {
    return valuesOf(spec).weightDecay();
  }

  /** Returns what a parameter has of its own. */
  GroupValues valuesOf(ParameterSpec spec) {
    Optional<GroupSettings> group = groups.of(spec.name());
    Double decay = group.map(GroupSettings::weightDecay).orElse(null);
    Double lr = group.map(GroupSettings::lr).orElse(null);
    List<Double> betas = group.map(GroupSettings::betas).orElse(null);
    return new GroupValues(
        decay == null ? usualDecay(spec) : decay,
        lr == null ? layerFactors.getOrDefault(spec.name(), 1.0) : lr / optimizer.lr(),
        betas,
        group.map(GroupSettings::frozenEpochs).orElse(0));
  }

  /** Tells whether parameters with such values stay as they are in this epoch. */
  boolean isFrozen(GroupValues values) {
    return epoch.getAsLong() < values.frozenEpochs();
  }

  private double usualDecay(ParameterSpec spec) {
    return isDecayed(spec) ? optimizer.weightDecay() : 0;
  }

  private boolean isDecayed(ParameterSpec spec) {
    if (noDecay != null) {
      return !noDecay.test(spec.name());
    }
    return optimizer.decaysBiasesAndNorms() || spec.kind() == ParameterSpec.Kind.WEIGHT;
  }
}
