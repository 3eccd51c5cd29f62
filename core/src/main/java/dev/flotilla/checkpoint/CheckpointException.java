package dev.flotilla.checkpoint;

import dev.flotilla.world.ExitCoded;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Thrown when a checkpoint cannot be read or written; the message names file and cause. */
public final class CheckpointException extends RuntimeException implements ExitCoded {

  /** Creates an exception with a message for the user. */
  public CheckpointException(String message) {
    super(message);
  }

  private CheckpointException(String message, IOException cause) {
    super(message, cause);
  }

  /** Says that a file is not what it should be. */
  static CheckpointException malformed(Path file, String what) {
    return new CheckpointException("%s is not a valid safetensors file: %s".formatted(file, what));
  }

  /**
   * Says that the file system failed.
   *
   * @param action what was tried, for example "cannot read"
   */
  static CheckpointException of(String action, Path file, IOException cause) {
    return new CheckpointException(
        "%s %s: %s".formatted(action, file.toAbsolutePath(), reason(cause)), cause);
  }

  /** Returns why the file system failed; names the causes whose own message is only a path. */
  public static String reason(IOException cause) {
    return switch (cause) {
      case NoSuchFileException missing -> "no such file or folder: " + missing.getFile();
      case AccessDeniedException denied -> "permission denied: " + denied.getFile();
      case FileSystemException failed when failed.getReason() != null -> failed.getReason();
      default -> cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    };
  }

  @Override
  public int exitCode() {
    return ExitCodes.CHECKPOINT;
  }
}
