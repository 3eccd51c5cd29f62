package dev.flotilla.config;

import dev.flotilla.settings.Setting;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** One key of a settings record: its name in a recipe, its type, its default and its meaning. */
record SettingsKey(String name, Type type, Setting setting) {

  static SettingsKey of(RecordComponent component, Setting setting) {
    return new SettingsKey(snakeCase(component.getName()), component.getGenericType(), setting);
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
    return !setting.def().equals(Setting.REQUIRED);
  }

  /** Tells whether a recipe may leave the value empty. */
  boolean isNullable() {
    return setting.def().equals("null") || hasAlternative();
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
    if (isNullable() && !hasDefault()) {
      return new Node.Scalar(place, "null", true);
    }
    String text = setting.def();
    if (text.matches("[\\w.*-]*")) {
      return new Node.Scalar(place, text, true);
    }
    return YamlReader.read(text, place, new Problems()).orElseThrow();
  }

  private static String snakeCase(String component) {
    return component.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }
}
