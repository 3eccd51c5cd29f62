package dev.flotilla.zoo.table;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Values by name as JSON has them.
 *
 * @param values the values
 */
record JsonMap(Map<?, ?> values) {

  /** Returns names and values in turn as a map that keeps their order. */
  static Map<String, Object> of(Object... namesAndValues) {
    var map = new LinkedHashMap<String, Object>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }

  String text(String name) {
    if (values.get(name) instanceof String text) {
      return text;
    }
    throw lacks(name, "text");
  }

  double number(String name) {
    if (values.get(name) instanceof Number number) {
      return number.doubleValue();
    }
    throw lacks(name, "number");
  }

  List<String> texts(String name) {
    return list(name).stream().map(String::valueOf).toList();
  }

  List<JsonMap> maps(String name) {
    return list(name).stream()
        .map(it -> it instanceof Map<?, ?> map ? new JsonMap(map) : new JsonMap(Map.of()))
        .toList();
  }

  private List<?> list(String name) {
    if (values.get(name) instanceof List<?> list) {
      return list;
    }
    throw lacks(name, "list");
  }

  boolean has(String name) {
    return values.get(name) != null;
  }

  private static IllegalArgumentException lacks(String name, String kind) {
    return new IllegalArgumentException("it has no %s '%s'".formatted(kind, name));
  }
}
