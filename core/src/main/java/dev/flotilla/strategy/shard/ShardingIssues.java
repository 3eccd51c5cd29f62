package dev.flotilla.strategy.shard;

import dev.flotilla.memory.Precision;
import dev.flotilla.settings.Remedy;
import dev.flotilla.step.Phase;
import dev.flotilla.strategy.PlanFacts;
import dev.flotilla.strategy.PlanIssue;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import java.util.ArrayList;
import java.util.List;

/** What stands against sharding in a run, or makes it useless. */
record ShardingIssues(Sharding settings, PlanFacts facts) {

  List<PlanIssue> all() {
    List<PlanIssue> issues = new ArrayList<>();
    if (settings.hasHalves()) {
      addHalves(issues);
    } else if (facts.ranks() == 1 && !isBeside()) {
      issues.add(
          PlanIssue.warning(
              "sharding has no effect on one rank without offload", "remove it, or set offload"));
    }
    if (isBeside()) {
      addBeside(issues);
    }
    if (settings.keepsSlices()) {
      facts.techniques().stream()
          .filter(ShardingIssues::conditionsWindows)
          .map(technique -> conditioned(technique.key()))
          .forEach(issues::add);
    }
    return issues;
  }

  private void addHalves(List<PlanIssue> issues) {
    var type = settings.parameters().word();
    if (facts.layout().precision() != Precision.FLOAT32) {
      issues.add(
          PlanIssue.error(
              "sharding rounds parameters to %s, but precision is float64".formatted(type),
              "set parameters: fp32, or precision: float32"));
    }
    if (!facts.has(Property.COMPUTES_IN_BF16)) {
      issues.add(
          PlanIssue.error(
              "sharding has parameters in %s, but forward does not compute in it".formatted(type),
              "add %s, or set parameters: fp32".formatted(Remedy.BF16_FORWARD.named())));
    }
  }

  private boolean isBeside() {
    return settings.offload() != Offload.NONE || settings.placement() == Placement.AUTO;
  }

  /** At stages 1 and 2 the float32 slices of 16-bit parameters are there to be moved, too. */
  private void addBeside(List<PlanIssue> issues) {
    boolean movesParameters =
        settings.offload() == Offload.OPTIMIZER_AND_PARAMETERS
            || (settings.hasHalves()
                && settings.stage() < 3
                && settings.offload() == Offload.OPTIMIZER);
    if (!facts.optimizer().canOffload()) {
      issues.add(
          PlanIssue.error(
              "%s keeps its memory itself, where sharding cannot move it"
                  .formatted(facts.optimizer().getClass().getSimpleName()),
              "take adam, adamw or momentum, or set offload: none and placement: static"));
    } else if (!movesParameters && facts.optimizer().numbersPerParameter().orElse(1) == 0) {
      issues.add(
          PlanIssue.error(
              "the optimizer remembers nothing between updates, so there is nothing to offload",
              "set offload: none and placement: static, or at stage 3 offload:"
                  + " optimizer+parameters"));
    }
  }

  private static boolean conditionsWindows(Strategy technique) {
    return technique.claims().stream().anyMatch(claim -> claim.phase() == Phase.CONDITION)
        && !technique.properties().contains(Property.CONDITIONS_MICRO_STEPS);
  }

  private PlanIssue conditioned(String key) {
    return PlanIssue.error(
        ("%s changes the gradients of a window before they are exchanged, but with sharding of"
                + " stage %d those of each micro-step are")
            .formatted(key, settings.stage()),
        "set stage: 1, or stage: 2 with no_sync: true");
  }
}
