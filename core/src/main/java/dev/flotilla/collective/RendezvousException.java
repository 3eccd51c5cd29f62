package dev.flotilla.collective;

import dev.flotilla.world.ExitCoded;

/** Thrown when the ranks of a job cannot find each other; the message says who, where and why. */
public final class RendezvousException extends RuntimeException implements ExitCoded {

  /** Creates an exception with a message for the user. */
  public RendezvousException(String message) {
    super(message);
  }

  /** Creates an exception with the failure beneath it. */
  public RendezvousException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public int exitCode() {
    return 6;
  }
}
