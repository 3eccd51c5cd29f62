package dev.flotilla.config;

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

    private static Part of(RecordComponent component) {
      Setting setting = component.getAnnotation(Setting.class);
      return new Part(
          component, Optional.ofNullable(setting).map(s -> SettingsKey.of(component, s)));
    }

    @Nullable Object valueIn(Record owner) {
      try {
        var accessor = component.getAccessor();
        accessor.trySetAccessible();
        return accessor.invoke(owner);
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
    return new SettingsShape(type, Stream.of(type.getRecordComponents()).map(Part::of).toList());
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
    try {
      var constructor = constructor();
      constructor.trySetAccessible();
      return constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(type + " cannot be made", e);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(type + " cannot be made", e);
    }
  }

  private Constructor<? extends Record> constructor() throws NoSuchMethodException {
    List<Class<?>> types = new ArrayList<>();
    parts.forEach(part -> types.add(part.component().getType()));
    return type.getDeclaredConstructor(types.toArray(Class<?>[]::new));
  }
}
