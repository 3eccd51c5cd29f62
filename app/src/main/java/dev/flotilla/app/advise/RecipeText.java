package dev.flotilla.app.advise;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Writes a recipe as YAML: one line per setting, and values as JSON where they are not plain. */
public final class RecipeText {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private RecipeText() {}

  /** Returns the text, with a comment at its head. */
  public static String of(Map<String, Object> settings, List<String> comment) {
    var text = new StringBuilder();
    comment.forEach(line -> text.append("# ").append(line).append('\n'));
    append(text, "", settings);
    return text.toString();
  }

  private static void append(StringBuilder text, String indent, Map<?, ?> settings) {
    settings.forEach(
        (key, value) -> {
          text.append(indent).append(key).append(':');
          if (value instanceof Map<?, ?> inner && !inner.isEmpty()) {
            text.append('\n');
            append(text, indent + "  ", inner);
          } else {
            text.append(' ').append(scalar(value)).append('\n');
          }
        });
  }

  /** JSON is YAML; words that need no quotes go without. */
  private static String scalar(@Nullable Object value) {
    boolean isPlain =
        value instanceof String text
            && text.matches("[A-Za-z][A-Za-z0-9_./-]*")
            && !text.toLowerCase(java.util.Locale.ROOT).matches("true|false|null|yes|no|on|off");
    return isPlain ? String.valueOf(value) : JSON.writeValueAsString(value);
  }
}
