package dev.flotilla.config;

/** Makes text of a recipe fit for a message of one line. */
final class Text {

  private static final int LONGEST = 60;

  private Text() {}

  /** Returns the text in quotes. */
  static String quoted(String text) {
    return "'" + shown(text) + "'";
  }

  /** Returns the text without line breaks, terminal escapes and excess length. */
  static String shown(String text) {
    return shown(text, LONGEST);
  }

  /** Returns the text without line breaks and terminal escapes, cut at a number of characters. */
  static String shown(String text, int longest) {
    var line = new StringBuilder();
    int at = 0;
    for (int count = 0; at < text.length() && count < longest; count++) {
      int point = text.codePointAt(at);
      line.appendCodePoint(isPrintable(point) ? point : '\uFFFD');
      at += Character.charCount(point);
    }
    return line.append(at < text.length() ? "…" : "").toString();
  }

  /** Returns the dotted key of a key inside another. */
  static String dotted(String outer, String key) {
    if (outer.isEmpty() || key.isEmpty()) {
      return outer + key;
    }
    return outer + "." + key;
  }

  private static boolean isPrintable(int point) {
    return switch (Character.getType(point)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }
}
