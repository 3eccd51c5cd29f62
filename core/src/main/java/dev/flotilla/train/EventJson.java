package dev.flotilla.train;

import dev.flotilla.report.TrainingEvent;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;

/** Writes events and summaries as JSON, with keys in snake_case. */
final class EventJson {

  private static final JsonMapper MAPPER =
      JsonMapper.builder().propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE).build();

  /** Returns one line: the kind of event, the time, then its fields. */
  String line(TrainingEvent event) {
    var kind = event.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    var fields = MAPPER.writeValueAsString(event).substring(1); // an event has one at least
    return "{\"event\":\"" + kind + "\",\"time\":\"" + Instant.now() + "\"," + fields;
  }

  /** Returns indented text that ends with a line feed. */
  String pretty(Map<String, Object> values) {
    return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(values) + "\n";
  }
}
