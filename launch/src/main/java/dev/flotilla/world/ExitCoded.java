package dev.flotilla.world;

/**
 * An exception that knows the exit code of a process it ends.
 *
 * <p>Such an exception is an expected end: the process prints its message alone. Any other
 * exception is a bug of the program and is printed with its stack trace.
 */
public interface ExitCoded {

  /** Returns the exit code, one of {@link ExitCodes}. */
  int exitCode();
}
