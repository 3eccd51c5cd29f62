package dev.flotilla.bench;

/** Prints what checks have found, a line for each, and counts those that failed. */
final class Verdicts {

  private int failures;

  int failures() {
    return failures;
  }

  /** Runs checks; what they throw is a failure too. */
  void check(String name, Runnable checks) {
    try {
      checks.run();
    } catch (RuntimeException | Error failure) {
      failures++;
      System.out.println("FAILED " + name + ": " + failure);
      failure.printStackTrace(System.out);
    }
  }

  /** Notes whether something holds. */
  void expect(String what, boolean holds, String found) {
    failures += holds ? 0 : 1;
    System.out.printf("%-6s %-60s %s%n", holds ? "ok" : "FAILED", what, found);
    System.out.flush();
  }
}
