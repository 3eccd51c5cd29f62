package dev.flotilla.config;

import dev.flotilla.config.SettingsBinder.Unbound;
import dev.flotilla.text.NearestName;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** Makes settings records that a recipe chooses by name. */
final class NamedBinder {

  /** The key that holds the name, beside the keys of the chosen record. */
  static final String NAME = "name";

  private final RecordBinder records;
  private final Catalogue catalogue;
  private final Problems problems;

  NamedBinder(RecordBinder records, Catalogue catalogue, Problems problems) {
    this.records = records;
    this.catalogue = catalogue;
    this.problems = problems;
  }

  /** Binds {@code {name: x, …}}, or {@code x} alone. */
  Object one(String path, Node node, Class<?> kind) {
    if (node instanceof Node.Mapping mapping) {
      return fromMapping(path, mapping, kind);
    }
    return type(path, node, kind)
        .map(type -> records.bind(path, Node.Mapping.empty(node.place()), type))
        .orElse(Unbound.UNBOUND);
  }

  private Object fromMapping(String path, Node.Mapping node, Class<?> kind) {
    Node name = node.entries().get(NAME);
    String key = Text.dotted(path, NAME);
    if (name == null) {
      problems.add(node.place(), key, "is missing", allowed(kind));
      return Unbound.UNBOUND;
    }
    return type(key, name, kind)
        .map(type -> fromMapping(path, node.without(NAME), name, type))
        .orElse(Unbound.UNBOUND);
  }

  private Object fromMapping(
      String path, Node.Mapping node, Node name, Class<? extends Record> type) {
    var shape = SettingsShape.of(type);
    List<String> known = shape.keyNames();
    if (known.contains(NAME)) {
      throw new IllegalStateException(type + " must not have a key 'name', which chooses it");
    }
    node.entries()
        .forEach(
            (key, value) -> {
              if (!known.contains(key)) {
                refuseKey(path, key, value, name, known);
              }
            });
    return records.bind(path, node, shape);
  }

  private void refuseKey(String path, String key, Node value, Node name, List<String> known) {
    String message = "is not a key of " + name.shown() + Synonyms.hint(path, key, known);
    boolean changedName = name.place().layer() > value.place().layer();
    String reason = changedName ? "the name was changed by " + name.place().text() + "; " : "";
    String keys = known.isEmpty() ? "it has no keys" : "allowed: " + String.join(", ", known);
    problems.add(value.place(), Text.dotted(path, key), message, reason + keys);
  }

  /** Binds a mapping of names to settings; the order in which it was written does not matter. */
  Object all(String path, Node node, Class<?> kind) {
    if (node.isNull()) {
      return List.of();
    }
    if (!(node instanceof Node.Mapping mapping)) {
      String message = "must be a mapping of names to settings, but was " + node.shown();
      problems.add(node.place(), path, message, allowed(kind));
      return Unbound.UNBOUND;
    }
    List<Object> bound = new ArrayList<>();
    new TreeMap<>(mapping.entries())
        .forEach((name, settings) -> add(bound, Text.dotted(path, name), name, settings, kind));
    return bound.contains(Unbound.UNBOUND) ? Unbound.UNBOUND : List.copyOf(bound);
  }

  private void add(List<Object> bound, String path, String name, Node settings, Class<?> kind) {
    var type = catalogue.types(kind).get(name);
    if (type == null) {
      refuseName(path, settings.place(), name, kind);
      bound.add(Unbound.UNBOUND);
    } else if (!isSwitchedOff(settings)) {
      boolean byDefault = isSwitch(settings, "true");
      Node mapping = byDefault ? Node.Mapping.empty(settings.place()) : settings;
      bound.add(records.bind(path, mapping, type));
    }
  }

  /** A written null takes a technique away like any other value; nothing at all is a bare name. */
  private static boolean isSwitchedOff(Node settings) {
    boolean isWrittenNull = settings.isNull() && !isSwitch(settings, "");
    return isWrittenNull || isSwitch(settings, "false");
  }

  private static boolean isSwitch(Node settings, String word) {
    return settings instanceof Node.Scalar scalar
        && scalar.plain()
        && scalar.text().equalsIgnoreCase(word);
  }

  private Optional<Class<? extends Record>> type(String path, Node name, Class<?> kind) {
    if (!(name instanceof Node.Scalar scalar) || name.isNull()) {
      String message = "must be the name of a " + catalogue.word(kind) + ", but was ";
      problems.add(name.place(), path, message + name.shown(), allowed(kind));
      return Optional.empty();
    }
    NavigableMap<String, Class<? extends Record>> types = catalogue.types(kind);
    Optional<Class<? extends Record>> type = Optional.ofNullable(types.get(scalar.text()));
    if (type.isEmpty()) {
      refuseName(path, name.place(), scalar.text(), kind);
    }
    return type;
  }

  private void refuseName(String path, Place place, String name, Class<?> kind) {
    String unknown = "unknown " + catalogue.word(kind) + " " + Text.quoted(name);
    String hint = NearestName.hint(name, catalogue.types(kind).keySet());
    problems.add(place, path, unknown + hint, allowed(kind));
  }

  private String allowed(Class<?> kind) {
    var names = catalogue.types(kind).keySet();
    return names.isEmpty() ? "none is installed" : "allowed: " + String.join(", ", names);
  }
}
