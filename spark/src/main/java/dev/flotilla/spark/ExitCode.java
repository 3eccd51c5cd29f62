package dev.flotilla.spark;

import java.util.Set;

/** The exit codes of {@code flotilla run} that mean something to a Spark job. */
final class ExitCode {

  static final int OK = 0;
  static final int FAILED = 1;
  static final int USAGE = 2;

  /**
   * Wrong usage, a rejected plan, a stop on request, Ctrl-C: another attempt mends none of them.
   */
  private static final Set<Integer> FINAL = Set.of(USAGE, 4, 10, 130);

  private ExitCode() {}

  static boolean isFinal(int code) {
    return FINAL.contains(code);
  }
}
