package dev.flotilla.board.page;

import dev.flotilla.board.run.Moment;
import dev.flotilla.board.run.Run;
import dev.flotilla.board.run.Series;
import dev.flotilla.board.run.StepTime;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Writes runs as the page's script wants them; the head of charts.js says what each part is. */
public final class RunJson {

  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final MathContext DIGITS = new MathContext(6);
  private static final int LARGEST_EXACT_POWER = 22;

  private RunJson() {}

  /**
   * Returns a list of runs as JSON that may stand inside a script element.
   *
   * @param points most points of a curve
   * @param moments most moments of a timeline, the newest ones
   */
  public static String of(List<Run> runs, int points, int moments) {
    return escaped(
        MAPPER.writeValueAsString(
            runs.stream()
                .map(
                    run ->
                        fields(run, run.isFinished() ? "finished" : "unfinished", points, moments))
                .toList()));
  }

  /**
   * Returns one run as JSON that may stand inside a script element.
   *
   * @param status what is known of it
   */
  public static String of(Run run, String status, int points, int moments) {
    return escaped(MAPPER.writeValueAsString(fields(run, status, points, moments)));
  }

  /** Nothing in it can end a script element or begin a comment; JSON means the same by it. */
  static String escaped(String json) {
    return json.replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029");
  }

  private static Map<String, Object> fields(Run run, String status, int points, int moments) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", run.name());
    fields.put("status", status);
    fields.put("facts", Facts.of(run));
    fields.put("results", Result.of(run).stream().map(RunJson::result).toList());
    fields.put("series", run.series().stream().map(it -> series(it.thinned(points))).toList());
    fields.put("times", run.stepTimes().stream().map(RunJson::time).toList());
    fields.put("timeline", newest(run.timeline(), moments).stream().map(RunJson::moment).toList());
    fields.put("planned", Planned.of(run).stream().map(Planned::cells).toList());
    fields.put(
        "pipeline",
        run.pipeline().entrySet().stream()
            .map(it -> List.of(it.getKey(), String.valueOf(it.getValue())))
            .toList());
    fields.put("settings", Facts.settings(run.configuration()));
    return fields;
  }

  private static List<Moment> newest(List<Moment> all, int most) {
    return all.subList(Math.max(0, all.size() - most), all.size());
  }

  private static List<@Nullable Object> result(Result it) {
    List<@Nullable Object> cells = new ArrayList<>();
    cells.add(it.name());
    cells.add(number(it.value()));
    cells.add(it.unit());
    return cells;
  }

  private static Map<String, Object> series(Series it) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("chart", it.key().chart());
    fields.put("line", it.key().line());
    fields.put("unit", it.key().unit());
    fields.put("x", IntStream.range(0, it.size()).mapToObj(i -> (long) it.update(i)).toList());
    fields.put("y", IntStream.range(0, it.size()).mapToObj(i -> number(it.value(i))).toList());
    return fields;
  }

  /** JSON has no word for what is not finite; six digits are more than a chart shows. */
  static @Nullable Object number(double value) {
    if (!Double.isFinite(value)) {
      return null;
    }
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      return (long) value;
    }
    return rounded(value);
  }

  /** Without BigDecimal where a power of ten is exact: its tables take 20 to 80 ms to make. */
  private static double rounded(double value) {
    int digits = DIGITS.getPrecision() - 1 - (int) Math.floor(Math.log10(Math.abs(value)));
    if (Math.abs(digits) > LARGEST_EXACT_POWER) {
      return new BigDecimal(value).round(DIGITS).doubleValue();
    }
    double power = Math.pow(10, Math.abs(digits));
    return digits < 0 ? Math.rint(value / power) * power : Math.rint(value * power) / power;
  }

  private static Map<String, Object> time(StepTime it) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("rank", it.rank());
    fields.put("data", it.data());
    fields.put("forward", it.forward());
    fields.put("backward", it.backward());
    fields.put("exchange", it.exchange());
    fields.put("update", it.update());
    fields.put("other", it.other());
    fields.put("hidden", it.hidden());
    return fields;
  }

  private static Map<String, Object> moment(Moment it) {
    return Map.of(
        "kind",
        it.kind().name(),
        "update",
        it.update(),
        "time",
        it.time().toString(),
        "text",
        it.text());
  }
}
