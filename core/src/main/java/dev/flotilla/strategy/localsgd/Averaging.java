package dev.flotilla.strategy.localsgd;

import dev.flotilla.optim.Sgd;
import dev.flotilla.optim.TorchOptimizer;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.wire.Dtype;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What fixed and adaptive intervals have in common.
 *
 * @param key the technique's key
 * @param beginStep updates at the start that are averaged one by one
 * @param momentum what becomes of the optimizer's memory
 * @param wire the type of numbers that travel
 * @param overlap whether an average travels behind the next round's updates
 * @param group who has parameters of its own
 * @param outer the outer optimizer, or null for the plain mean
 */
record Averaging(
    String key,
    int beginStep,
    MomentumPolicy momentum,
    Dtype wire,
    boolean overlap,
    AveragingGroup group,
    @Nullable OuterOptimizer outer) {

  List<PlanIssue> issues(PlanFacts facts) {
    List<PlanIssue> issues = new ArrayList<>();
    if (momentum != MomentumPolicy.LOCAL) {
      addMomentumIssues(facts, issues);
    }
    if (facts.ranks() == 1) {
      issues.add(PlanIssue.warning(key + " has no effect on one rank", "remove it"));
    }
    return issues;
  }

  private void addMomentumIssues(PlanFacts facts, List<PlanIssue> issues) {
    var policy = momentum.name().toLowerCase(Locale.ROOT);
    if (facts.optimizer() instanceof TorchOptimizer) {
      issues.add(
          PlanIssue.error(
              "%s.momentum: %s needs the optimizer's memory, which a TorchOptimizer does not hand"
                      .formatted(key, policy)
                  + " out",
              "use momentum: local, or one of Flotilla's own optimizers"));
    }
    if (facts.optimizer() instanceof Sgd) {
      issues.add(
          PlanIssue.warning(
              "%s.momentum: %s has no effect, as sgd remembers nothing".formatted(key, policy),
              "remove it"));
    }
  }

  boolean isByHost() {
    return group == AveragingGroup.HOST;
  }

  /** Returns what others must know of it. */
  Set<Property> properties() {
    return isByHost()
        ? Set.of(Property.LETS_RANKS_DIFFER)
        : Set.of(Property.LETS_RANKS_DIFFER, Property.LETS_EACH_RANK_DIFFER);
  }

  /** Returns what the plan prints for the sync. */
  String syncText(String interval) {
    var text = new StringBuilder();
    text.append(outer == null ? "average parameters " : "outer " + words(outer.name()) + " step ");
    text.append(interval);
    if (beginStep > 1) {
      text.append(", at each of the first ").append(beginStep);
    }
    if (wire != Dtype.FP32) {
      text.append(", ").append(wire.word()).append(" on the wire");
    }
    if (overlap) {
      text.append(", one round late");
    }
    return text.toString();
  }

  private static String words(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }
}
