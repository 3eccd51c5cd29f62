package dev.flotilla.collective;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether a process of this host runs. */
enum ProcessState {
  RUNNING("is running"),
  STOPPED("is stopped"),
  GONE("is gone");

  private final String words;

  ProcessState(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }

  /** Reads the state of a process; one that ended and was not yet collected is gone. */
  static ProcessState of(long pid) {
    try {
      var status = Files.readString(Path.of("/proc/" + pid + "/stat"));
      // The name before the state is in parentheses and may itself contain any character.
      return ofLetter(status.charAt(status.lastIndexOf(')') + 2));
    } catch (IOException e) {
      return GONE;
    }
  }

  private static ProcessState ofLetter(char letter) {
    return switch (letter) {
      case 'T', 't' -> STOPPED;
      case 'Z', 'X', 'x' -> GONE;
      default -> RUNNING;
    };
  }
}
