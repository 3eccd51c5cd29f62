package dev.flotilla.config;

import dev.flotilla.config.SettingsBinder.Unbound;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes one settings record of a mapping. */
final class RecordBinder {

  private static final String WHOLE_RECORD = "";

  private final SettingsBinder values;
  private final Problems problems;
  private final Map<Class<?>, Object> given;

  /**
   * Creates a binder.
   *
   * @param given values by type for components that are no settings
   */
  RecordBinder(SettingsBinder values, Problems problems, Map<Class<?>, Object> given) {
    this.values = values;
    this.problems = problems;
    this.given = given;
  }

  /** Binds a mapping; an empty value stands for a mapping without keys. */
  Object bind(String path, Node node, Class<? extends Record> type) {
    var shape = SettingsShape.of(type);
    if (node.isNull()) {
      return bind(path, Node.Mapping.empty(node.place()), shape);
    }
    if (node instanceof Node.Mapping mapping) {
      refuseUnknownKeys(path, mapping, shape);
      return bind(path, mapping, shape);
    }
    String allowed = String.join(", ", shape.keyNames());
    String message = "must be a mapping, but was " + node.shown();
    problems.add(node.place(), path, message, "allowed keys: " + allowed);
    return Unbound.UNBOUND;
  }

  private void refuseUnknownKeys(String path, Node.Mapping node, SettingsShape shape) {
    List<String> known = shape.keyNames();
    node.entries()
        .forEach(
            (key, value) -> {
              if (!known.contains(key)) {
                String message = "unknown key" + Synonyms.hint(path, key, known);
                String allowed = "allowed: " + String.join(", ", known);
                problems.add(value.place(), Text.dotted(path, key), message, allowed);
              }
            });
  }

  /** Binds the known keys of a mapping and leaves the others alone. */
  Object bind(String path, Node.Mapping node, SettingsShape shape) {
    List<@Nullable Object> arguments = new ArrayList<>();
    Set<String> unbound = new HashSet<>();
    if (shape.refuseBothAlternatives(path, node, problems)) {
      unbound.add(WHOLE_RECORD);
    }
    for (SettingsShape.Part part : shape.parts()) {
      Object value = argument(path, node, part, shape);
      if (value instanceof Unbound) {
        part.key().ifPresent(key -> unbound.add(key.name()));
        value = standIn(part);
      }
      arguments.add(value);
    }
    return create(path, node, shape, arguments, unbound);
  }

  private @Nullable Object argument(
      String path, Node.Mapping node, SettingsShape.Part part, SettingsShape shape) {
    if (part.key().isEmpty()) {
      return given(part.component());
    }
    SettingsKey key = part.key().get();
    String dotted = Text.dotted(path, key.name());
    Node value = node.entries().get(key.name());
    if (value == null || (value.isNull() && key.isNullable())) {
      return absent(path, node, key, shape);
    }
    return values.value(dotted, value, key);
  }

  private Object given(RecordComponent component) {
    Object value = given.get(component.getType());
    if (value == null) {
      String record = component.getDeclaringRecord().getName();
      throw new IllegalStateException(record + "." + component.getName() + " lacks @Setting");
    }
    return value;
  }

  private @Nullable Object absent(
      String path, Node.Mapping node, SettingsKey key, SettingsShape shape) {
    String other = key.setting().insteadOf();
    if (key.hasDefault()) {
      return byDefault(Text.dotted(path, key.name()), key);
    }
    if (node.states(other)) {
      return null;
    }
    if (key.hasAlternative()) {
      refuseNeither(path, node, inOrder(key.name(), other, shape));
    } else {
      problems.add(node.place(), Text.dotted(path, key.name()), "is missing", key.setting().doc());
    }
    return Unbound.UNBOUND;
  }

  /** Reports a pair of keys in the same words for either of them, so that it is reported once. */
  private void refuseNeither(String path, Node.Mapping node, List<String> pair) {
    String message = "is missing; state it, or '" + pair.getLast() + "' instead";
    problems.add(node.place(), Text.dotted(path, pair.getFirst()), message);
  }

  /** The key that comes first in the record is the usual one of a pair. */
  private static List<String> inOrder(String one, String other, SettingsShape shape) {
    var names = shape.keyNames();
    return names.indexOf(one) < names.indexOf(other) ? List.of(one, other) : List.of(other, one);
  }

  private @Nullable Object byDefault(String dotted, SettingsKey key) {
    Node value = key.defaultValue();
    return value.isNull() ? null : values.value(dotted, value, key);
  }

  /** Returns a value that lets the constructor check the other components. */
  private @Nullable Object standIn(SettingsShape.Part part) {
    SettingsKey key = part.key().orElseThrow();
    if (key.hasDefault()) {
      Object value = byDefault(key.name(), key);
      return value instanceof Unbound ? null : value;
    }
    return ScalarType.zero(part.component().getType());
  }

  private Object create(
      String path,
      Node.Mapping node,
      SettingsShape shape,
      List<@Nullable Object> arguments,
      Set<String> unbound) {
    try {
      Record made = shape.create(arguments.toArray());
      return unbound.isEmpty() ? made : Unbound.UNBOUND;
    } catch (ConfigException e) {
      e.problems().forEach(problem -> refuse(path, node, problem, unbound));
    } catch (RuntimeException e) {
      refuse(path, node, e, unbound);
    }
    return Unbound.UNBOUND;
  }

  private void refuse(
      String path, Node.Mapping node, RuntimeException failure, Set<String> unbound) {
    // With stand-ins for what could not be bound, a failure says nothing about the recipe.
    if (unbound.isEmpty() && failure instanceof IllegalArgumentException) {
      problems.add(node.place(), path, String.valueOf(failure.getMessage()));
    } else if (unbound.isEmpty()) {
      throw failure;
    }
  }

  private void refuse(String path, Node.Mapping node, Problem problem, Set<String> unbound) {
    String key = problem.key().replaceFirst("[.\\[].*", "");
    boolean isAboutStandIns =
        unbound.contains(key) || (key.equals(WHOLE_RECORD) && !unbound.isEmpty());
    if (!isAboutStandIns) {
      String dotted = Text.dotted(path, problem.key());
      problems.add(node.placeOf(key), dotted, problem.message(), problem.fix());
    }
  }
}
