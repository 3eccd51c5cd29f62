package dev.flotilla.settings;

/**
 * One thing wrong with a configuration.
 *
 * @param where file and line, command-line option, or the empty text when unknown
 * @param key dotted key, for example {@code optimizer.lr}; empty for the whole document
 * @param message what is wrong and what is allowed
 * @param fix how to mend it, or the empty text when the message already says so
 */
public record Problem(String where, String key, String message, String fix) {

  /** Returns this problem as one line for people. */
  @Override
  public String toString() {
    var line = new StringBuilder();
    if (!where.isEmpty()) {
      line.append(where).append(": ");
    }
    if (!key.isEmpty()) {
      line.append(key).append(": ");
    }
    line.append(message);
    if (!fix.isEmpty()) {
      line.append(" (").append(fix).append(')');
    }
    return line.toString();
  }
}
