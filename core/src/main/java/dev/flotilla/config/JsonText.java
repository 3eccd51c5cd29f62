package dev.flotilla.config;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes maps, lists, texts, numbers and booleans as JSON, in the order in which they come. */
final class JsonText {

  private static final String INDENT = "  ";

  private final StringBuilder out = new StringBuilder();
  private final boolean lines;

  private JsonText(boolean lines) {
    this.lines = lines;
  }

  /** Returns an object with one key. */
  static Map<String, Object> object(String key, Object value) {
    return Map.of(key, value);
  }

  /** Returns an object with two keys in this order. */
  static Map<String, Object> object(String first, Object one, String second, Object other) {
    var object = new LinkedHashMap<String, Object>();
    object.put(first, one);
    object.put(second, other);
    return object;
  }

  /** Returns JSON over several lines, ending with a line break. */
  static String document(Object value) {
    var json = new JsonText(true);
    json.value(value, 0);
    return json.out.append('\n').toString();
  }

  /** Returns JSON on one line. */
  static String line(Object value) {
    var json = new JsonText(false);
    json.value(value, 0);
    return json.out.toString();
  }

  private void value(Object value, int depth) {
    switch (value) {
      case Map<?, ?> map -> map(map, depth);
      case List<?> list -> list(list, depth);
      case String text -> text(text);
      case Number number -> out.append(number);
      case Boolean bool -> out.append(bool.booleanValue());
      default -> throw new IllegalArgumentException("cannot write " + value.getClass());
    }
  }

  private void map(Map<?, ?> map, int depth) {
    out.append('{');
    for (var entries = map.entrySet().iterator(); entries.hasNext(); ) {
      var entry = entries.next();
      startItem(depth + 1);
      text(entry.getKey().toString());
      out.append(": ");
      value(entry.getValue(), depth + 1);
      endItem(entries, depth);
    }
    out.append('}');
  }

  private void list(List<?> list, int depth) {
    boolean nested = list.stream().anyMatch(item -> item instanceof Map);
    out.append('[');
    for (var items = list.iterator(); items.hasNext(); ) {
      if (nested) {
        startItem(depth + 1);
      }
      value(items.next(), depth + 1);
      if (nested) {
        endItem(items, depth);
      } else {
        out.append(items.hasNext() ? ", " : "");
      }
    }
    out.append(']');
  }

  private void startItem(int depth) {
    if (lines) {
      out.append('\n').repeat(INDENT, depth);
    }
  }

  private void endItem(Iterator<?> rest, int depth) {
    if (rest.hasNext()) {
      out.append(lines ? "," : ", ");
    } else {
      startItem(depth);
    }
  }

  private void text(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> out.append('\\').append(c);
        case '\n' -> out.append("\\n");
        default -> out.append(c < ' ' ? "\\u%04x".formatted((int) c) : String.valueOf(c));
      }
    }
    out.append('"');
  }
}
