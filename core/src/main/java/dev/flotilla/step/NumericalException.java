package dev.flotilla.step;

import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;

/** Thrown when a loss or gradient is not finite, or ranks hold different parameters. */
public final class NumericalException extends RuntimeException implements ExitCoded {

  /** Creates an exception with a message for the user. */
  public NumericalException(String message) {
    super(message);
  }

  @Override
  public int exitCode() {
    return ExitCodes.NUMERICAL;
  }
}
