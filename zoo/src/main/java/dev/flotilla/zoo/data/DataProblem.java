package dev.flotilla.zoo.data;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/** Says what is wrong with data: the file, the place in it, and how to mend it. */
public final class DataProblem {

  private static final String KEY = "data.path";

  private DataProblem() {}

  /** Returns what is wrong with a file or folder. */
  public static ConfigException of(Path file, String what, String fix) {
    return in(KEY, file + ": " + what, fix);
  }

  /** Returns what is wrong at a place in a file, a byte or a line. */
  public static ConfigException at(Path file, String place, String what, String fix) {
    return in(KEY, "%s, %s: %s".formatted(file, place, what), fix);
  }

  /** Returns what is wrong with a key. */
  public static ConfigException in(String key, String what, String fix) {
    return new ConfigException(List.of(new Problem("", key, what, fix)));
  }

  /** Returns that a file cannot be read. */
  public static ConfigException unreadable(Path file, IOException cause) {
    return switch (cause) {
      case NoSuchFileException _ -> of(file, "no such file", "");
      case AccessDeniedException _ -> of(file, "permission denied", "");
      default -> of(file, "cannot be read: " + cause.getMessage(), "");
    };
  }
}
