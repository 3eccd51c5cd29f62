package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Turns maps, lists, numbers and texts into nodes, and nodes into them. */
final class PlainValues {

  private PlainValues() {}

  static Node.Mapping toNode(Place place, Map<String, ?> values) {
    var entries = new LinkedHashMap<String, Node>();
    values.forEach((key, value) -> entries.put(key, node(place, value)));
    return new Node.Mapping(place, entries);
  }

  private static Node node(Place place, @Nullable Object value) {
    return switch (value) {
      case null -> new Node.Scalar(place, "null", true);
      case Map<?, ?> map -> toNode(place, textKeys(map));
      case List<?> list ->
          new Node.Sequence(place, list.stream().map(item -> node(place, item)).toList());
      case String text -> new Node.Scalar(place, text, false);
      default -> new Node.Scalar(place, value.toString(), true);
    };
  }

  /** Returns a node as plain values; a plain scalar is what YAML 1.2 takes it for. */
  static Object ofNode(Node node) {
    return switch (node) {
      case Node.Mapping mapping -> {
        var values = new LinkedHashMap<String, Object>();
        mapping.entries().forEach((key, value) -> values.put(key, ofNode(value)));
        yield values;
      }
      case Node.Sequence sequence -> sequence.items().stream().map(PlainValues::ofNode).toList();
      case Node.Scalar scalar -> ofScalar(scalar);
    };
  }

  private static Object ofScalar(Node.Scalar scalar) {
    for (Class<?> type : List.of(long.class, double.class, boolean.class)) {
      try {
        return ScalarType.of(type).read(scalar);
      } catch (ConfigException notThisType) {
        // The next type may fit; text always does.
      }
    }
    return scalar.text();
  }

  private static Map<String, Object> textKeys(Map<?, ?> map) {
    var entries = new LinkedHashMap<String, Object>();
    map.forEach((key, value) -> entries.put(key.toString(), value));
    return entries;
  }
}
