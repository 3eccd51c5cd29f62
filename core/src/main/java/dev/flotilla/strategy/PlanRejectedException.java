package dev.flotilla.strategy;

import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Thrown when values are fine but the combination is not; carries all issues, numbered. */
public final class PlanRejectedException extends RuntimeException implements ExitCoded {

  private final transient List<PlanIssue> issues;

  /** Creates an exception for at least one issue. */
  public PlanRejectedException(List<PlanIssue> issues) {
    super(
        IntStream.range(0, issues.size())
            .mapToObj(i -> (i + 1) + ". " + issues.get(i))
            .collect(Collectors.joining("\n", "the settings do not work together:\n", "")));
    this.issues = List.copyOf(issues);
  }

  /** Returns the issues that refuse the plan. */
  public List<PlanIssue> issues() {
    return issues;
  }

  @Override
  public int exitCode() {
    return ExitCodes.PLAN_REJECTED;
  }
}
