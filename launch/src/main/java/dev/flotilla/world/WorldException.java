package dev.flotilla.world;

/** Thrown when a rank's environment is contradictory or incomplete; the message says the fix. */
public final class WorldException extends RuntimeException implements ExitCoded {

  /** Creates an exception with a message for the user. */
  public WorldException(String message) {
    super(message);
  }

  @Override
  public int exitCode() {
    return ExitCodes.USAGE;
  }
}
