package dev.flotilla.launch;

import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import java.util.List;

/** Thrown when ranks cannot be launched as asked; carries all problems found, not the first. */
public final class LaunchException extends RuntimeException implements ExitCoded {

  private final transient List<String> problems;
  private final int exitCode;

  /** Creates an exception for problems of the command line or the settings. */
  public LaunchException(List<String> problems) {
    this(problems, ExitCodes.USAGE);
  }

  /** Creates an exception for one problem. */
  public LaunchException(String problem) {
    this(List.of(problem));
  }

  LaunchException(List<String> problems, int exitCode) {
    super(String.join("\n", problems));
    if (problems.isEmpty()) {
      throw new IllegalArgumentException("a launch exception needs a problem");
    }
    this.problems = List.copyOf(problems);
    this.exitCode = exitCode;
  }

  /** Returns the problems in the order in which they were found. */
  public List<String> problems() {
    return problems;
  }

  @Override
  public int exitCode() {
    return exitCode;
  }
}
