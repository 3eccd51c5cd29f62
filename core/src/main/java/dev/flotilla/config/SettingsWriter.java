package dev.flotilla.config;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;

/** Writes settings records back as plain values; what is null is left out. */
final class SettingsWriter {

  private final Catalogue catalogue;

  SettingsWriter(Catalogue catalogue) {
    this.catalogue = catalogue;
  }

  Map<String, Object> resolved(Record settings) {
    return keys(settings, key -> true);
  }

  SortedMap<String, String> facts(Record settings) {
    var facts = new TreeMap<String, String>();
    flatten("", keys(settings, key -> !key.isLocal()), facts);
    return facts;
  }

  private Map<String, Object> keys(Record settings, Predicate<SettingsKey> wanted) {
    var values = new LinkedHashMap<String, Object>();
    for (SettingsShape.Part part : SettingsShape.of(settings.getClass()).parts()) {
      Object value = part.valueIn(settings);
      if (value != null && part.key().filter(wanted).isPresent()) {
        SettingsKey key = part.key().get();
        values.put(key.name(), plain(value, catalogue.typeOf(key), wanted));
      }
    }
    return values;
  }

  private Object plain(Object value, Type type, Predicate<SettingsKey> wanted) {
    if (catalogue.hasKind(type)) {
      return named(value, (Class<?>) type, wanted);
    }
    return switch (type) {
      case ParameterizedType many when value instanceof Map<?, ?> map ->
          map(map, many.getActualTypeArguments()[1], wanted);
      case ParameterizedType list ->
          list((List<?>) value, list.getActualTypeArguments()[0], wanted);
      case Class<?> text when ScalarType.isText(text) -> ScalarType.of(text).write(value);
      case Class<?> scalar ->
          value instanceof Record settings
              ? keys(settings, wanted)
              : ScalarType.of(scalar).write(value);
      default -> throw new IllegalStateException("a setting cannot be a " + type);
    };
  }

  private Object map(Map<?, ?> values, Type valueType, Predicate<SettingsKey> wanted) {
    var byName = new LinkedHashMap<String, Object>();
    values.forEach((name, value) -> byName.put((String) name, plain(value, valueType, wanted)));
    return byName;
  }

  private Object list(List<?> values, Type itemType, Predicate<SettingsKey> wanted) {
    if (!catalogue.hasKind(itemType) || catalogue.isOrdered(itemType)) {
      List<Object> items = new ArrayList<>();
      values.forEach(value -> items.add(plain(value, itemType, wanted)));
      return items;
    }
    var byName = new TreeMap<String, Object>();
    for (Object value : values) {
      byName.put(catalogue.nameOf((Class<?>) itemType, value), keys((Record) value, wanted));
    }
    return byName;
  }

  private Map<String, Object> named(Object value, Class<?> kind, Predicate<SettingsKey> wanted) {
    var settings = new LinkedHashMap<String, Object>();
    settings.put(NamedBinder.NAME, catalogue.nameOf(kind, value));
    settings.putAll(keys((Record) value, wanted));
    return settings;
  }

  private static void flatten(String path, Map<?, ?> values, Map<String, String> facts) {
    values.forEach(
        (name, value) -> {
          String key = Text.dotted(path, name.toString());
          if (value instanceof Map<?, ?> inner && !inner.isEmpty()) {
            flatten(key, inner, facts);
          } else {
            facts.put(key, value instanceof String text ? text : JsonText.line(value));
          }
        });
  }
}
