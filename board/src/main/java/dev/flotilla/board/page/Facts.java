package dev.flotilla.board.page;

import dev.flotilla.board.run.Run;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Says in a few lines what a run was, and lists its settings. */
final class Facts {

  private final List<List<String>> lines = new ArrayList<>();

  private Facts() {}

  /** Returns pairs of a name and a text. */
  static List<List<String>> of(Run run) {
    var facts = new Facts();
    var settings = run.configuration();
    facts.add("model", named(settings.get("model")));
    facts.add("data", named(settings.get("data")));
    facts.add("optimizer", named(settings.get("optimizer")));
    facts.add("parameters", run.parameters() == 0 ? "" : format("%,d", run.parameters()));
    facts.add("ranks", run.ranks() == 0 ? "" : Integer.toString(run.ranks()));
    facts.add("device", text(run.summary().getOrDefault("device", settings.get("device"))));
    facts.add("threads", text(run.summary().get("threads")));
    facts.add("techniques", techniques(settings.get("strategy")));
    facts.add("updates", updates(run));
    facts.add(
        "begun", run.begun().map(it -> it.truncatedTo(ChronoUnit.SECONDS).toString()).orElse(""));
    facts.add("run", run.identity());
    return facts.lines;
  }

  private void add(String name, String text) {
    if (!text.isEmpty()) {
      lines.add(List.of(name, text));
    }
  }

  private static String updates(Run run) {
    return run.totalUpdates() == 0
        ? format("%,d", run.update())
        : format(
            "%,d of %,d in %d epoch%s",
            run.update(), run.totalUpdates(), run.epochs(), run.epochs() == 1 ? "" : "s");
  }

  private static String techniques(@Nullable Object strategy) {
    return strategy instanceof Map<?, ?> map
        ? String.join(", ", map.keySet().stream().map(String::valueOf).toList())
        : "";
  }

  private static String named(@Nullable Object part) {
    if (!(part instanceof Map<?, ?> map)) {
      return text(part);
    }
    var text = new StringBuilder(text(map.get("name")));
    map.forEach(
        (key, value) -> {
          if (!"name".equals(key) && !(value instanceof Map) && !(value instanceof List)) {
            text.append(' ').append(key).append('=').append(value);
          }
        });
    return text.toString();
  }

  /** Returns all settings, one line each, with dots between a key and those inside it. */
  static List<List<String>> settings(Map<String, Object> configuration) {
    List<List<String>> lines = new ArrayList<>();
    flatten(lines, "", configuration);
    return lines;
  }

  private static void flatten(List<List<String>> lines, String prefix, Map<?, ?> values) {
    values.forEach(
        (key, value) -> {
          if (value instanceof Map<?, ?> nested && !nested.isEmpty()) {
            flatten(lines, prefix + key + ".", nested);
          } else {
            lines.add(List.of(prefix + key, text(value)));
          }
        });
  }

  private static String text(@Nullable Object value) {
    return value == null ? "" : value.toString();
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
