package dev.flotilla.app.cluster;

import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** Writes maps, lists, texts and numbers as a YAML document, as people write manifests. */
final class YamlText {

  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final String STEP = "  ";

  private final StringBuilder text = new StringBuilder();

  private YamlText() {}

  /** Returns the lines of one document. */
  static String of(Map<String, Object> document) {
    var yaml = new YamlText();
    yaml.map("", "", document);
    return yaml.text.toString();
  }

  private void map(String first, String indent, Map<?, ?> entries) {
    String lead = first;
    for (var entry : entries.entrySet()) {
      text.append(lead).append(entry.getKey()).append(':');
      value(indent, entry.getValue());
      lead = indent;
    }
  }

  private void value(String indent, Object value) {
    switch (value) {
      case Map<?, ?> entries when !entries.isEmpty() -> {
        text.append('\n');
        map(indent + STEP, indent + STEP, entries);
      }
      case List<?> items when !items.isEmpty() -> {
        text.append('\n');
        items.forEach(item -> item(indent + STEP, item));
      }
      case String lines when isBlock(lines) -> block(indent + STEP, lines);
      default -> text.append(' ').append(scalar(value)).append('\n');
    }
  }

  private void item(String indent, Object item) {
    if (item instanceof Map<?, ?> entries && !entries.isEmpty()) {
      map(indent + "- ", indent + STEP, entries);
    } else {
      text.append(indent).append("- ").append(scalar(item)).append('\n');
    }
  }

  /** A text of several lines stays readable; the number says how far it is set in. */
  private void block(String indent, String lines) {
    text.append(" |").append(STEP.length()).append('\n');
    lines.lines().forEach(line -> text.append(line.isEmpty() ? "" : indent + line).append('\n'));
  }

  private static boolean isBlock(String text) {
    return text.endsWith("\n")
        && !text.endsWith("\n\n")
        && !text.startsWith("\n")
        && text.codePoints().allMatch(c -> c == '\n' || (c >= ' ' && c < 0x7f))
        && text.lines().noneMatch(line -> line.endsWith(" "));
  }

  /** JSON is YAML; words that no reader takes for something else go without quotes. */
  private static String scalar(Object value) {
    boolean isPlain =
        value instanceof String text
            && text.matches("[A-Za-z/][A-Za-z0-9_./-]*")
            && !text.matches("(?i)true|false|null|yes|no|on|off|y|n");
    return isPlain ? (String) value : JSON.writeValueAsString(value);
  }
}
