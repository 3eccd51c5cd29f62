package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.text.NearestName;
import java.lang.reflect.Field;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SequencedMap;

/**
 * A constant of an enum, written in lower case.
 *
 * @param constants by the word that a recipe uses, in the order of declaration
 */
record EnumWord(SequencedMap<String, Object> constants) implements ScalarType {

  /**
   * Reads the constants from the fields: {@code Class.getEnumConstants} looks at all methods and
   * would load the classes in their signatures.
   */
  static EnumWord of(Class<?> type) {
    var constants = new LinkedHashMap<String, Object>();
    for (Field field : type.getDeclaredFields()) {
      if (field.isEnumConstant()) {
        constants.put(word(field.getName()), constant(field));
      }
    }
    return new EnumWord(constants);
  }

  /** Returns the same without the constants that some words do not name. */
  EnumWord only(List<String> words) {
    var some = new LinkedHashMap<>(constants);
    some.keySet().retainAll(words);
    return new EnumWord(some);
  }

  @Override
  public Object read(Node node) {
    String words = String.join(", ", constants.keySet());
    String text = ScalarType.text(node, "one of " + words);
    Object constant = constants.get(text);
    if (constant == null) {
      String hint = NearestName.hint(text, constants.keySet());
      throw new ConfigException(
          "", "must be one of " + words + ", but was " + Text.quoted(text) + hint);
    }
    return constant;
  }

  @Override
  public Object write(Object value) {
    return word(((Enum<?>) value).name());
  }

  @Override
  public Map<String, Object> schema() {
    return Map.of("enum", List.copyOf(constants.keySet()));
  }

  private static String word(String constant) {
    return constant.toLowerCase(Locale.ROOT);
  }

  private static Object constant(Field field) {
    try {
      field.trySetAccessible();
      return field.get(null);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException("cannot read " + field, e);
    }
  }
}
