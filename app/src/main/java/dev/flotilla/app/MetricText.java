package dev.flotilla.app;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Metrics for people to read. */
final class MetricText {

  private MetricText() {}

  /** Returns numbers on one line, each behind two blanks; tables are left out. */
  static String of(Map<String, Object> metrics) {
    var text = new StringBuilder();
    metrics.forEach(
        (name, value) -> {
          if (value instanceof Number number) {
            text.append(String.format(Locale.ROOT, "  %s %.4f", name, number.doubleValue()));
          }
        });
    return text.toString();
  }

  /** Returns tables of counts, each row on a line of its own. */
  static String tables(Map<String, Object> metrics) {
    var text = new StringBuilder();
    metrics.forEach(
        (name, value) -> {
          if (value instanceof List<?> rows) {
            text.append(System.lineSeparator()).append(name).append(":");
            rows.forEach(row -> text.append(System.lineSeparator()).append(row((List<?>) row)));
          }
        });
    return text.toString();
  }

  private static String row(List<?> cells) {
    var text = new StringBuilder();
    cells.forEach(cell -> text.append(String.format(Locale.ROOT, "%7s", cell)));
    return text.toString();
  }
}
