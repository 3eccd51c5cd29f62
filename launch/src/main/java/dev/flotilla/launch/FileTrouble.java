package dev.flotilla.launch;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Says for people why a file could not be used. */
final class FileTrouble {

  private FileTrouble() {}

  static String in(IOException failure) {
    return switch (failure) {
      case AccessDeniedException denied -> denied.getFile() + ": permission denied";
      case NoSuchFileException missing -> missing.getFile() + " does not exist";
      case FileSystemException other when other.getReason() != null ->
          other.getFile() + ": " + other.getReason();
      default -> {
        String message = failure.getMessage();
        yield message == null ? failure.toString() : message;
      }
    };
  }
}
