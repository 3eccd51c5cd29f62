package dev.flotilla.board.live;

import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;

/** Says why a board cannot be opened. */
public final class BoardException extends RuntimeException implements ExitCoded {

  BoardException(String message) {
    super(message);
  }

  @Override
  public int exitCode() {
    return ExitCodes.USAGE;
  }
}
