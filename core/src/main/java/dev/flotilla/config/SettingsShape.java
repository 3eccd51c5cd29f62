package dev.flotilla.config;

import static java.util.stream.Collectors.joining;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Setting;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a settings record looks like to a recipe.
 *
 * <p>Components without {@link Setting} are no keys; the binder hands them in. Only components and
 * the constructor are looked at: asking for methods would load every class in their signatures, and
 * libtorch's with them.
 */
final class SettingsShape {

  private final Class<? extends Record> type;
  private final List<Part> parts;
  private final List<SettingsKey> keys;

  /** A component and, where a recipe may state it, its key. */
  record Part(RecordComponent component, Optional<SettingsKey> key) {

    private static Part of(RecordComponent component, Optional<Record> defaults) {
      var setting = Optional.ofNullable(component.getAnnotation(Setting.class));
      var part = new Part(component, Optional.empty());
      var def = defaults.map(record -> yaml(part.valueIn(record)));
      return new Part(component, setting.map(s -> SettingsKey.of(component, s, def)));
    }

    private static String yaml(@Nullable Object value) {
      return switch (value) {
        case null -> "null";
        case Double number when number == Math.rint(number) -> "" + number.longValue();
        case List<?> list -> list.stream().map(Part::yaml).collect(joining(", ", "[", "]"));
        case Enum<?> word -> "" + ScalarType.of(word.getDeclaringClass()).write(word);
        default -> "" + ScalarType.of(value.getClass()).write(value);
      };
    }

    @Nullable Object valueIn(Record owner) {
      try {
        var accessor = component.getAccessor();
        accessor.trySetAccessible();
        return accessor.invoke(owner);
      } catch (IllegalAccessException e) {
        throw ConfigException.closed(owner.getClass());
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("cannot read " + component, e);
      }
    }
  }

  private SettingsShape(Class<? extends Record> type, List<Part> parts) {
    this.type = type;
    this.parts = parts;
    this.keys = parts.stream().flatMap(part -> part.key().stream()).toList();
  }

  static SettingsShape of(Class<? extends Record> type) {
    var defaults = defaults(type);
    return new SettingsShape(
        type, Stream.of(type.getRecordComponents()).map(part -> Part.of(part, defaults)).toList());
  }

  /** Returns what the constructor without parameters makes, where there is one. */
  private static Optional<Record> defaults(Class<? extends Record> type) {
    return Stream.of(type.getDeclaredConstructors())
        .filter(constructor -> constructor.getParameterCount() == 0)
        .findAny()
        .map(constructor -> create(type, constructor));
  }

  /** Returns all components in the order of the constructor. */
  List<Part> parts() {
    return parts;
  }

  List<SettingsKey> keys() {
    return keys;
  }

  List<String> keyNames() {
    return keys.stream().map(SettingsKey::name).toList();
  }

  /** Returns names of keys that must be stated. */
  List<String> requiredNames() {
    return keys.stream().filter(SettingsKey::isRequired).map(SettingsKey::name).toList();
  }

  /** Returns the second key of each pair of which only one may be stated. */
  List<SettingsKey> alternatives() {
    List<String> names = keyNames();
    return keys.stream()
        .filter(SettingsKey::hasAlternative)
        .filter(key -> names.indexOf(key.setting().insteadOf()) < names.indexOf(key.name()))
        .toList();
  }

  /** Adds a problem for each pair of which both are stated, and tells whether there was one. */
  boolean refuseBothAlternatives(String path, Node.Mapping node, Problems problems) {
    boolean refused = false;
    for (SettingsKey key : alternatives()) {
      String other = key.setting().insteadOf();
      if (node.states(key.name()) && node.states(other)) {
        refuse(path, node, other, key.name(), problems);
        refused = true;
      }
    }
    return refused;
  }

  private static void refuse(
      String path, Node.Mapping node, String one, String other, Problems problems) {
    boolean inOrder = node.placeOf(one).compareTo(node.placeOf(other)) <= 0;
    String first = inOrder ? one : other;
    String second = inOrder ? other : one;
    String where = node.placeOf(first).text();
    problems.add(
        node.placeOf(second),
        Text.dotted(path, second),
        "cannot stand together with '" + first + "' (" + where + ")",
        "state one of them");
  }

  /**
   * Calls the constructor.
   *
   * @throws RuntimeException what the constructor throws
   */
  Record create(@Nullable Object[] values) {
    List<Class<?>> types = new ArrayList<>();
    parts.forEach(part -> types.add(part.component().getType()));
    try {
      return create(type, type.getDeclaredConstructor(types.toArray(Class<?>[]::new)), values);
    } catch (NoSuchMethodException e) {
      throw new IllegalStateException(type + " cannot be made", e);
    }
  }

  private static Record create(
      Class<?> type, Constructor<?> constructor, @Nullable Object... values) {
    try {
      constructor.trySetAccessible();
      return (Record) constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(type + " cannot be made", e);
    } catch (IllegalAccessException e) {
      throw ConfigException.closed(type);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type + " cannot be made", e);
    }
  }
}
