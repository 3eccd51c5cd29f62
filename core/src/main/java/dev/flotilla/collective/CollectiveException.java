package dev.flotilla.collective;

import dev.flotilla.world.ExitCoded;

/**
 * Thrown when a peer or link failed or timed out; the group is unusable and the run must be
 * rebuilt.
 */
public final class CollectiveException extends RuntimeException implements ExitCoded {

  /** Creates an exception whose message names rank, operation, bytes and elapsed time. */
  public CollectiveException(String message) {
    super(message);
  }

  /** Creates an exception with the failure beneath it. */
  public CollectiveException(String message, Throwable cause) {
    super(message, cause);
  }

  @Override
  public int exitCode() {
    return 5;
  }
}
