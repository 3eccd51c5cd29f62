package dev.flotilla.app;

import java.nio.file.Path;
import java.util.Map;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** JSON for machines that read standard output. */
final class Json {

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Json() {}

  static Map<String, Object> read(Path file) {
    return MAPPER.readValue(file.toFile(), new TypeReference<>() {});
  }

  static String line(Map<String, ?> values) {
    return MAPPER.writeValueAsString(values);
  }

  static String pretty(Map<String, ?> values) {
    return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(values);
  }
}
