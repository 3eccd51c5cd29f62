package dev.flotilla.config;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Describes recipes to editors, as a JSON Schema made from the settings records. */
public final class RecipeSchema {

  private final Catalogue catalogue;

  /** Kinds that are being described: one inside itself is referred to. */
  private final Set<String> underWay = new HashSet<>();

  private final Map<String, Object> definitions = new TreeMap<>();

  private RecipeSchema(Catalogue catalogue) {
    this.catalogue = catalogue;
  }

  /** Returns the keys that a recipe may state at its top. */
  public static List<String> keys() {
    return SettingsShape.of(RunConfig.class).keyNames();
  }

  /** Returns the dotted key that a word was probably meant to be, by likeness or as a synonym. */
  public static Optional<String> keyMeantBy(String word) {
    return Synonyms.meaningOf(word, keys());
  }

  /** Returns the schema of recipes that use what is installed. */
  public static String json() {
    return json(Catalogue.installed());
  }

  /** Returns the schema of recipes that use the names of a catalogue; always the same text. */
  public static String json(Catalogue catalogue) {
    var schema = new LinkedHashMap<String, Object>();
    schema.put("$schema", "https://json-schema.org/draft/2020-12/schema");
    schema.put("title", "Flotilla recipe");
    var shape = SettingsShape.of(RunConfig.class);
    var described = new RecipeSchema(catalogue);
    schema.putAll(described.object(Map.of(), shape));
    if (!described.definitions.isEmpty()) {
      schema.put("$defs", described.definitions);
    }
    return JsonText.document(schema);
  }

  /** Describes a mapping with the keys of a record, after some others that are required. */
  private Map<String, Object> object(Map<String, Object> before, SettingsShape shape) {
    var properties = new LinkedHashMap<String, Object>(before);
    shape.keys().forEach(key -> properties.put(key.name(), key(key)));
    List<String> required = new ArrayList<>(before.keySet());
    required.addAll(shape.requiredNames());
    var schema = new LinkedHashMap<String, Object>();
    schema.put("type", "object");
    schema.put("properties", properties);
    if (!required.isEmpty()) {
      schema.put("required", required);
    }
    schema.put("additionalProperties", false);
    List<Object> pairs = new ArrayList<>();
    shape.alternatives().forEach(key -> pairs.add(alternatives(key)));
    if (!pairs.isEmpty()) {
      schema.put("allOf", pairs);
    }
    return schema;
  }

  private static Map<String, Object> alternatives(SettingsKey key) {
    String other = key.setting().insteadOf();
    if (key.hasDefault()) {
      return Map.of("not", Map.of("required", List.of(other, key.name())));
    }
    var either = Map.of("required", List.of(other));
    var or = Map.of("required", List.of(key.name()));
    return Map.of("oneOf", List.of(either, or));
  }

  private Map<String, Object> key(SettingsKey key) {
    var schema = new LinkedHashMap<String, Object>();
    schema.put("description", key.setting().doc());
    if (key.hasDefault() && !key.isNullable()) {
      schema.put("default", PlainValues.ofNode(key.defaultValue()));
    }
    var type = key.choice().map(ScalarType::schema).orElseGet(() -> type(catalogue.typeOf(key)));
    schema.putAll(key.isNullable() ? orNull(type) : type);
    return schema;
  }

  private static Map<String, Object> orNull(Map<String, Object> schema) {
    return Map.of("anyOf", List.of(schema, Map.of("type", "null")));
  }

  private Map<String, Object> type(Type type) {
    if (catalogue.hasKind(type)) {
      return oneByName((Class<?>) type);
    }
    return switch (type) {
      case ParameterizedType many when many.getActualTypeArguments().length == 2 ->
          map(many.getActualTypeArguments()[1]);
      case ParameterizedType list -> list(list.getActualTypeArguments()[0]);
      case Class<?> record when record.isRecord() && !ScalarType.isText(record) ->
          object(Map.of(), SettingsShape.of(record.asSubclass(Record.class)));
      case Class<?> scalar -> ScalarType.of(scalar).schema();
      default -> throw new IllegalStateException("a setting cannot be a " + type);
    };
  }

  private Map<String, Object> map(Type valueType) {
    var schema = new LinkedHashMap<String, Object>();
    schema.put("type", "object");
    schema.put("additionalProperties", type(valueType));
    return schema;
  }

  private Map<String, Object> list(Type itemType) {
    if (catalogue.hasKind(itemType) && !catalogue.isOrdered(itemType)) {
      return allByName((Class<?>) itemType);
    }
    var schema = new LinkedHashMap<String, Object>();
    schema.put("type", "array");
    schema.put("items", type(itemType));
    return schema;
  }

  /** Describes {@code {name: x, …}} for each name, and the bare names that need no other key. */
  private Map<String, Object> oneByName(Class<?> kind) {
    String name = kind.getSimpleName().toLowerCase(Locale.ROOT);
    if (!underWay.add(name)) {
      definitions.put(name, Map.of());
      return Map.of("$ref", "#/$defs/" + name);
    }
    var schema = allOfKind(kind);
    definitions.replace(name, schema);
    underWay.remove(name);
    return schema;
  }

  private Map<String, Object> allOfKind(Class<?> kind) {
    List<String> bare = new ArrayList<>();
    List<Object> choices = new ArrayList<>();
    catalogue
        .types(kind)
        .forEach(
            (name, type) -> {
              var shape = SettingsShape.of(type);
              if (shape.requiredNames().isEmpty()) {
                bare.add(name);
              }
              choices.add(object(Map.of(NamedBinder.NAME, Map.of("const", name)), shape));
            });
    if (!bare.isEmpty()) {
      choices.addFirst(Map.of("enum", bare));
    }
    return Map.of("oneOf", choices);
  }

  private Map<String, Object> allByName(Class<?> kind) {
    var properties = new LinkedHashMap<String, Object>();
    catalogue.types(kind).forEach((name, type) -> properties.put(name, technique(type)));
    var schema = new LinkedHashMap<String, Object>();
    schema.put("type", List.of("object", "null"));
    schema.put("properties", properties);
    schema.put("additionalProperties", false);
    return schema;
  }

  private Map<String, Object> technique(Class<? extends Record> type) {
    var settings = object(Map.of(), SettingsShape.of(type));
    var onOff = Map.of("type", List.of("boolean", "null"));
    return Map.of("anyOf", List.of(settings, onOff));
  }
}
