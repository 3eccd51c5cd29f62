package dev.flotilla.config;

import dev.flotilla.settings.Setting;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One key of a settings record.
 *
 * @param name its name in a recipe
 * @param def its default in YAML notation; nothing where it has none
 * @param setting what it means
 */
record SettingsKey(String name, Type type, Optional<String> def, Setting setting) {

  /**
   * Describes a component.
   *
   * @param otherwise the default where the annotation states none
   */
  static SettingsKey of(RecordComponent component, Setting setting, Optional<String> otherwise) {
    boolean isStated = !setting.def().equals(Setting.REQUIRED);
    return new SettingsKey(
        snakeCase(component.getName()),
        component.getGenericType(),
        isStated ? Optional.of(setting.def()) : otherwise,
        setting);
  }

  /** Tells whether a recipe must state this key. */
  boolean isRequired() {
    return !hasDefault() && !hasAlternative();
  }

  /** Tells whether another key may be stated instead. */
  boolean hasAlternative() {
    return !setting.insteadOf().isEmpty();
  }

  boolean hasDefault() {
    return def.isPresent();
  }

  /** Tells whether a recipe may leave the value empty. */
  boolean isNullable() {
    return def.equals(Optional.of("null")) || hasAlternative();
  }

  /** Tells whether the value may differ from rank to rank. */
  boolean isLocal() {
    return setting.local() || type == Path.class;
  }

  /** Returns the enum's constants that are allowed, where the key does not take all of them. */
  Optional<ScalarType> choice() {
    return setting.words().length == 0
        ? Optional.empty()
        : Optional.of(EnumWord.of((Class<?>) type).only(List.of(setting.words())));
  }

  /** Returns the default as if it had been written in the recipe. */
  Node defaultValue() {
    Place place = Place.ofFile("default of " + name);
    String text = def.orElse("null");
    if (text.matches("[\\w.*-]*")) {
      return new Node.Scalar(place, text, true);
    }
    return YamlReader.read(text, place, new Problems()).orElseThrow();
  }

  private static String snakeCase(String component) {
    return component.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }
}
