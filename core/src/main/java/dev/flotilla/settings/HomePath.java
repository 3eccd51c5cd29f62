package dev.flotilla.settings;

import java.nio.file.Path;

/**
 * Paths as people write them: a shell puts the home folder in place of {@code ~} at the start of a
 * word alone, not in {@code --out=~/runs} or in a file.
 */
public final class HomePath {

  private static final String HOME = "~/";

  private HomePath() {}

  /**
   * Returns the path, below the user's home folder if it starts with {@code ~/}.
   *
   * @throws java.nio.file.InvalidPathException if no path can be called so
   */
  public static Path of(String text) {
    return text.startsWith(HOME)
        ? Path.of(System.getProperty("user.home"), text.substring(HOME.length()))
        : Path.of(text);
  }
}
