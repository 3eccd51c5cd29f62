package dev.flotilla.board.run;

import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;

/** Says why a folder cannot be read as that of a run. */
public final class RunException extends RuntimeException implements ExitCoded {

  /** Makes one with a message for users. */
  public RunException(String message) {
    super(message);
  }

  @Override
  public int exitCode() {
    return ExitCodes.USAGE;
  }
}
