package dev.flotilla.world;

/**
 * An exception that decides the exit code of the process it ends; its message is all that the user
 * sees.
 */
public interface ExitCoded {

  /** Returns the exit code of the process. */
  int exitCode();
}
