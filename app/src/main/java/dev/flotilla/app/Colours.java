package dev.flotilla.app;

import java.util.Map;

/**
 * Colours in what people read. NO_COLOR, CLICOLOR=0 and TERM=dumb turn them off, CLICOLOR_FORCE=1
 * turns them on; otherwise there are colours on a terminal alone.
 *
 * @param areOn whether texts get colours, or stay what they are
 */
record Colours(boolean areOn) {

  static final Colours NONE = new Colours(false);

  /** Returns the colours of this process. */
  static Colours here() {
    return in(System.getenv(), ProgressMode.isTerminal(System.getenv()));
  }

  static Colours in(Map<String, String> environment, boolean isTerminal) {
    String force = environment.getOrDefault("CLICOLOR_FORCE", "0");
    if (!environment.getOrDefault("NO_COLOR", "").isEmpty()) {
      return NONE;
    }
    if (!force.isEmpty() && !force.equals("0")) {
      return new Colours(true);
    }
    boolean isRefused =
        "0".equals(environment.get("CLICOLOR")) || "dumb".equals(environment.get("TERM"));
    return new Colours(isTerminal && !isRefused);
  }

  /** Returns a text about something that is wrong. */
  String wrong(String text) {
    return with("31;1", text);
  }

  /** Returns a text that should be read twice. */
  String warning(String text) {
    return with("33", text);
  }

  /** Returns a text about something that went well. */
  String well(String text) {
    return with("32", text);
  }

  /** Returns a text that matters less. */
  String faint(String text) {
    return with("2", text);
  }

  private String with(String code, String text) {
    return areOn ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
  }
}
