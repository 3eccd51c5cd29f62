package dev.flotilla.strategy;

import dev.flotilla.settings.Remedy;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepPlan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Turns techniques into a plan, or says why they cannot be one. */
public final class StepPlanner {

  /**
   * A plan with what the user should know about it.
   *
   * @param step the resolved phases
   * @param warnings issues that do not refuse it
   */
  public record Plan(StepPlan step, List<PlanIssue> warnings) {}

  private StepPlanner() {}

  /**
   * Resolves techniques, in whatever order they are listed.
   *
   * @throws PlanRejectedException with all issues if they cannot work together
   */
  public static Plan plan(List<? extends Strategy> techniques, PlanFacts facts) {
    var sorted = techniques.stream().sorted(Comparator.comparing(Strategy::key)).toList();
    List<PlanIssue> issues = new ArrayList<>();
    issues.addAll(repeated(sorted));
    issues.addAll(conflicts(sorted));
    issues.addAll(contradictions(sorted));
    issues.addAll(filtersBeforeResiduals(sorted));
    sorted.forEach(technique -> issues.addAll(technique.issues(facts)));
    var errors = issues.stream().filter(PlanIssue::isError).toList();
    if (!errors.isEmpty()) {
      throw new PlanRejectedException(errors);
    }
    return new Plan(new StepPlan(List.copyOf(sorted)), issues);
  }

  private static List<PlanIssue> repeated(List<? extends Strategy> techniques) {
    Set<String> seen = new HashSet<>();
    return techniques.stream()
        .filter(technique -> !seen.add(technique.key()))
        .map(t -> PlanIssue.error(t.key() + " is listed twice", "keep one of them"))
        .toList();
  }

  private static List<PlanIssue> conflicts(List<? extends Strategy> techniques) {
    List<PlanIssue> issues = new ArrayList<>();
    for (var phase : Phase.values()) {
      var owners =
          techniques.stream()
              .filter(it -> techniques.stream().anyMatch(other -> conflict(phase, it, other)))
              .map(Strategy::key)
              .toList();
      if (!owners.isEmpty()) {
        issues.add(
            PlanIssue.error(
                inWords(owners) + " decide the phase " + phase, "remove all but one of them"));
      }
    }
    return issues;
  }

  private static boolean conflict(Phase phase, Strategy one, Strategy other) {
    return !one.key().equals(other.key())
        && one.claims().stream()
            .filter(claim -> claim.phase() == phase)
            .anyMatch(claim -> other.claims().stream().anyMatch(claim::conflictsWith));
  }

  private static String inWords(List<String> owners) {
    var distinct = owners.stream().distinct().toList();
    String last = " and " + distinct.getLast();
    return String.join(", ", distinct.subList(0, distinct.size() - 1))
        + last
        + (distinct.size() == 2 ? " both" : " all");
  }

  private static List<PlanIssue> contradictions(List<? extends Strategy> techniques) {
    List<PlanIssue> issues = new ArrayList<>();
    for (var technique : techniques) {
      for (var other : techniques) {
        other
            .contradicts()
            .forEach(
                (property, why) -> {
                  if (technique.properties().contains(property)) {
                    issues.add(contradiction(technique, other, property, why));
                  }
                });
      }
    }
    return issues;
  }

  private static PlanIssue contradiction(
      Strategy technique, Strategy other, Property property, String why) {
    return PlanIssue.error(
        "%s and %s contradict each other: %s, and %s"
            .formatted(technique.key(), other.key(), property.words(), why),
        "remove one of them" + property.remedy().map(it -> ", or set " + it.named()).orElse(""));
  }

  /**
   * What a rank keeps must have been judged and limited before: scaling can be, other changes not.
   */
  private static List<PlanIssue> filtersBeforeResiduals(List<? extends Strategy> techniques) {
    var keepers =
        techniques.stream().filter(StepPlanner::keepsResiduals).map(Strategy::key).toList();
    if (keepers.isEmpty()) {
      return List.of();
    }
    return techniques.stream()
        .filter(StepPlanner::changesMoreThanScale)
        .map(
            technique ->
                PlanIssue.error(
                    "%s changes single gradients after the exchange, but with %s each rank adds its"
                            .formatted(technique.key(), keepers.getFirst())
                        + " own to what it keeps",
                    "limit the norm instead, with " + Remedy.LIMITED_NORM.named()))
        .toList();
  }

  private static boolean keepsResiduals(Strategy technique) {
    return technique.properties().contains(Property.KEEPS_RESIDUALS);
  }

  private static boolean changesMoreThanScale(Strategy technique) {
    return claims(technique, Phase.REFINE)
        && !technique.properties().contains(Property.ONLY_SCALES_GRADIENTS);
  }

  private static boolean claims(Strategy technique, Phase phase) {
    return technique.claims().stream().anyMatch(claim -> claim.phase() == phase);
  }
}
