package dev.flotilla.train;

import dev.flotilla.report.TrainingEvent;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** Writes events and summaries as JSON, with keys in snake_case. */
final class EventJson {

  private static final TypeReference<LinkedHashMap<String, Object>> FIELDS =
      new TypeReference<>() {};

  private final JsonMapper mapper =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  /** Returns one line: the kind of event, the time, then its fields. */
  String line(TrainingEvent event) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("event", event.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT));
    fields.put("time", Instant.now().toString());
    fields.putAll(mapper.convertValue(event, FIELDS));
    return mapper.writeValueAsString(fields);
  }

  /** Returns indented text that ends with a line feed. */
  String pretty(Map<String, Object> values) {
    return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(values) + "\n";
  }
}
