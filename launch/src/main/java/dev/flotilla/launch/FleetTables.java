package dev.flotilla.launch;

import java.util.Map;

/** The tables that users of Fleet know from its launcher. */
final class FleetTables {

  private static final String INDENT = "    ";
  private static final int LEAST_KEY_WIDTH = 40;
  private static final int VALUE_WIDTH = 45;
  private static final int SPACING = 2;
  private static final String ELLIPSIS = "... ";

  private FleetTables() {}

  /** Returns the block of arguments, one {@code name: value} a line. */
  static String configuration(Map<String, String> arguments) {
    var text = new StringBuilder("-----------  Configuration Arguments -----------\n");
    arguments.forEach((name, value) -> text.append(name).append(": ").append(value).append('\n'));
    return text.append("-".repeat(48)).append('\n').toString();
  }

  /** Returns the first rank's variables as a table below a line that says how many ranks start. */
  static String environment(int processes, Map<String, String> variables) {
    int keyWidth =
        variables.keySet().stream().mapToInt(String::length).max().orElse(LEAST_KEY_WIDTH);
    keyWidth = Math.max(keyWidth, LEAST_KEY_WIDTH);
    int width = keyWidth + SPACING + VALUE_WIDTH;
    var text =
        new StringBuilder(
            "Local start %d processes. First process distributed environment info (Only For Debug):\n"
                .formatted(processes));
    text.append(rule('=', width)).append(row(keyWidth, "Distributed Envs", "Value"));
    text.append(rule('-', width));
    for (Map.Entry<String, String> variable : variables.entrySet()) {
      text.append(row(keyWidth, variable.getKey(), shortened(variable.getValue())));
    }
    return text.append(rule('=', width)).toString();
  }

  private static String rule(char line, int width) {
    return INDENT + "+" + String.valueOf(line).repeat(width) + "+\n";
  }

  private static String row(int keyWidth, String key, String value) {
    return INDENT
        + "|"
        + " ".repeat(keyWidth - key.length())
        + key
        + " ".repeat(SPACING)
        + centred(value)
        + "|\n";
  }

  private static String centred(String value) {
    int free = Math.max(0, VALUE_WIDTH - value.length());
    return " ".repeat(free / 2) + value + " ".repeat(free - free / 2);
  }

  private static String shortened(String value) {
    return value.length() < VALUE_WIDTH
        ? value
        : ELLIPSIS + value.substring(value.length() - (VALUE_WIDTH - ELLIPSIS.length()));
  }
}
