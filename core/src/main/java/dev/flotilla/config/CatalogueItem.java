package dev.flotilla.config;

import dev.flotilla.settings.Summary;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A name that a recipe may use, described for people.
 *
 * @param name the name
 * @param summary one line that says what it is; empty where the record has none
 * @param keys its keys
 * @param byDefault the value with all defaults; nothing where a key must be stated
 */
public record CatalogueItem(
    String name, String summary, List<Key> keys, Optional<Record> byDefault) {

  /**
   * A key of it.
   *
   * @param name the key
   * @param def the default in YAML notation; nothing where it must be stated
   * @param doc what it does
   */
  public record Key(String name, Optional<String> def, String doc) {

    private static Key of(SettingsKey key) {
      return new Key(key.name(), key.def(), key.setting().doc());
    }
  }

  /** Returns all names of a kind, in order. */
  public static List<CatalogueItem> list(Catalogue catalogue, Class<?> kind) {
    return catalogue.types(kind).entrySet().stream()
        .map(entry -> of(entry.getKey(), entry.getValue(), catalogue))
        .toList();
  }

  private static CatalogueItem of(String name, Class<? extends Record> type, Catalogue catalogue) {
    var shape = SettingsShape.of(type);
    var summary = type.getAnnotation(Summary.class);
    Optional<Record> byDefault =
        shape.requiredNames().isEmpty() && shape.alternatives().isEmpty()
            ? Optional.of(SettingsBinder.bind(Recipe.of(name, Map.of()), type, catalogue))
            : Optional.empty();
    return new CatalogueItem(
        name,
        summary == null ? "" : summary.value(),
        shape.keys().stream().map(Key::of).toList(),
        byDefault);
  }
}
