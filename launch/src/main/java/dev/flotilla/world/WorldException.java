package dev.flotilla.world;

/**
 * Thrown when the environment of a rank is contradictory or incomplete; the message says how to
 * mend it.
 */
public final class WorldException extends RuntimeException {

  /** Creates an exception with a message for the user. */
  public WorldException(String message) {
    super(message);
  }
}
