package dev.flotilla.board.run;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** JSON as maps, lists, texts and numbers. */
final class Json {

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private static final TypeReference<LinkedHashMap<String, Object>> OBJECT =
      new TypeReference<>() {};

  private Json() {}

  /**
   * Reads one object.
   *
   * @throws JacksonException if it is none
   */
  static Map<String, Object> read(String text) {
    var object = MAPPER.readValue(text, OBJECT);
    return object == null ? Map.of() : object;
  }

  static String text(@Nullable Object value) {
    return value == null ? "" : value.toString();
  }

  /** Returns a number, which JSON may hold as a text if it is not finite, or NaN. */
  static double number(@Nullable Object value) {
    if (value instanceof Number number) {
      return number.doubleValue();
    }
    return isNotFinite(value) ? Double.parseDouble(text(value)) : Double.NaN;
  }

  static boolean isNotFinite(@Nullable Object value) {
    return value instanceof String text
        && (text.equals("NaN") || text.equals("Infinity") || text.equals("-Infinity"));
  }

  @SuppressWarnings("unchecked") // keys of objects are texts
  static Map<String, Object> object(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
  }
}
