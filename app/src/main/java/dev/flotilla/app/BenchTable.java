package dev.flotilla.app;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a benchmark found at one rate, beside what the cost model allows.
 *
 * <p>With T the step of one rank alone, B the time of its backward, r the part of backward before
 * the first bucket is full and W the time of the bytes on the wire, a step takes T + W, or where
 * the exchange overlaps backward max(T, T − B + r + W).
 */
final class BenchTable {

  /** What TCP leaves of the rate of a shaped link: 1448 of 1514 bytes of a frame. */
  private static final double PAYLOAD = 1448.0 / 1514;

  private final String rate;
  private final int hosts;
  private final Map<String, Row> rows = new LinkedHashMap<>();
  private final double alone;

  /**
   * A row.
   *
   * @param ms milliseconds of each measured step
   * @param bytes that a rank sends per step
   * @param formula milliseconds by the cost model, or 0 where the rate is not known
   * @param hidden milliseconds of the exchange behind backward
   */
  private record Row(List<Double> ms, double bytes, double formula, double hidden) {

    double quartile(int quarter) {
      var sorted = ms.stream().sorted().toList();
      return sorted.get((sorted.size() - 1) * quarter / 4);
    }
  }

  BenchTable(String rate, int hosts, Map<String, Object> results) {
    this.rate = rate;
    this.hosts = hosts;
    alone = row(map(results.get(BenchVariant.ALONE.name())), 0).quartile(2);
    results.forEach((name, result) -> rows.put(name, row(map(result), alone)));
  }

  void addPython(Map<String, Object> result) {
    rows.put("PyTorch DistributedDataParallel", row(result, 0));
  }

  private Row row(Map<String, Object> result, double compute) {
    var exchange = map(result.getOrDefault("exchange", Map.of()));
    double bytes = number(result.get("bytes_per_step"));
    double backward = number(exchange.get("backward_ms"));
    double first = number(exchange.get("first_bucket_ms"));
    double wire = bitsPerSecond() == 0 ? 0 : bytes * 8 / (bitsPerSecond() * PAYLOAD) * 1e3;
    double formula = backward == 0 ? compute + wire : compute - backward + first + wire;
    boolean isKnown = compute > 0 && bytes > 0 && bitsPerSecond() > 0;
    double hidden = number(exchange.get("hidden_ms_per_window"));
    return new Row(
        numbers(result.get("ms")), bytes, isKnown ? Math.max(compute, formula) : 0, hidden);
  }

  /** Returns the rate, or 0 for a link that is not shaped. */
  private double bitsPerSecond() {
    var match = java.util.regex.Pattern.compile("([0-9.]+)([kmg])bit").matcher(rate);
    if (!match.matches()) {
      return 0;
    }
    double unit = Map.of("k", 1e3, "m", 1e6, "g", 1e9).getOrDefault(match.group(2), 0.0);
    return Double.parseDouble(match.group(1)) * unit;
  }

  String text() {
    var text = new StringBuilder();
    text.append("%n%s, %d hosts%n".formatted(rate, hosts));
    text.append(
        String.format(
            Locale.ROOT,
            "%-36s %9s %17s %8s %9s %8s %7s %7s%n",
            "",
            "ms/step",
            "quartiles",
            "MB sent",
            "hidden ms",
            "formula",
            "reached",
            "gain"));
    double first = rows.values().stream().skip(1).findFirst().orElseThrow().quartile(2);
    rows.forEach((name, row) -> text.append(line(name, row, first)));
    return text.toString();
  }

  private static String line(String name, Row row, double first) {
    double median = row.quartile(2);
    boolean isKnown = row.formula() > 0;
    return String.format(
        Locale.ROOT,
        "%-36s %9.1f %17s %8.2f %9.1f %8s %7s %7.2f%n",
        name,
        median,
        String.format(Locale.ROOT, "%.1f to %.1f", row.quartile(1), row.quartile(3)),
        row.bytes() / 1e6,
        row.hidden(),
        isKnown ? String.format(Locale.ROOT, "%.1f", row.formula()) : "-",
        isKnown ? String.format(Locale.ROOT, "%.2f", row.formula() / median) : "-",
        first / median);
  }

  String json() {
    Map<String, Object> all = new LinkedHashMap<>();
    rows.forEach(
        (name, row) ->
            all.put(
                name,
                Map.of(
                    "ms", row.ms(),
                    "median_ms", row.quartile(2),
                    "bytes_per_step", row.bytes(),
                    "formula_ms", row.formula())));
    return Json.pretty(Map.of("rate", rate, "hosts", hosts, "rows", all)) + "\n";
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> map(@org.jspecify.annotations.Nullable Object value) {
    return value == null ? Map.of() : (Map<String, Object>) value;
  }

  private static double number(@org.jspecify.annotations.Nullable Object value) {
    return value instanceof Number number ? number.doubleValue() : 0;
  }

  private static List<Double> numbers(@org.jspecify.annotations.Nullable Object value) {
    List<Double> numbers = new ArrayList<>();
    if (value instanceof Collection<?> all) {
      all.forEach(each -> numbers.add(number(each)));
    }
    return numbers;
  }
}
