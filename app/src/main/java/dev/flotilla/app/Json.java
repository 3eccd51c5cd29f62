package dev.flotilla.app;

import java.util.Map;
import tools.jackson.databind.json.JsonMapper;

/** JSON for machines that read standard output. */
final class Json {

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Json() {}

  static String pretty(Map<String, ?> values) {
    return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(values);
  }
}
