package dev.flotilla.strategy;

/**
 * Something the user should know about a combination of techniques.
 *
 * @param isError whether the combination cannot run
 * @param message what is wrong
 * @param fix how to mend it
 */
public record PlanIssue(boolean isError, String message, String fix) {

  /** Returns an issue that refuses the plan. */
  public static PlanIssue error(String message, String fix) {
    return new PlanIssue(true, message, fix);
  }

  /** Returns an issue that is printed once. */
  public static PlanIssue warning(String message, String fix) {
    return new PlanIssue(false, message, fix);
  }

  /** Returns one line for people. */
  @Override
  public String toString() {
    return fix.isEmpty() ? message : message + " (" + fix + ")";
  }
}
