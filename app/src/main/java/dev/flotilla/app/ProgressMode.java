package dev.flotilla.app;

import java.util.Map;
import java.util.OptionalInt;

/** Whether a live progress line is drawn. */
enum ProgressMode {
  AUTO,
  ALWAYS,
  NEVER;

  private static final int USUAL_WIDTH = 80;

  /** Returns the width of the line to draw, or nothing where plain lines are right. */
  OptionalInt columns(Map<String, String> environment) {
    return switch (this) {
      case NEVER -> OptionalInt.empty();
      case ALWAYS -> OptionalInt.of(width(environment));
      case AUTO ->
          isTerminal(environment) ? OptionalInt.of(width(environment)) : OptionalInt.empty();
    };
  }

  /** A launcher whose output is a terminal says so to the rank whose output it shows. */
  @SuppressWarnings("SystemConsoleNull") // null in a pipe on JDK 25, an object on JDK 22 to 24
  static boolean isTerminal(Map<String, String> environment) {
    if (environment.containsKey("FLOTILLA_TERMINAL")) {
      return true;
    }
    boolean dumb = "dumb".equals(environment.get("TERM")) || environment.containsKey("CI");
    return !dumb && System.console() != null && System.console().isTerminal();
  }

  private static int width(Map<String, String> environment) {
    var text =
        environment.getOrDefault(
            "FLOTILLA_TERMINAL", environment.getOrDefault("COLUMNS", "" + USUAL_WIDTH));
    return text.matches("[1-9][0-9]{1,3}") ? Integer.parseInt(text) : USUAL_WIDTH;
  }
}
