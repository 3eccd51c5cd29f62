package dev.flotilla.metric;

import java.util.List;

/**
 * What a metric came to.
 *
 * @param value the number
 * @param table counts beside it, by rows; empty for most metrics
 */
public record MetricValue(double value, List<List<Long>> table) {

  /** Copies the table. */
  public MetricValue {
    table = table.stream().map(List::copyOf).toList();
  }

  /** Reads a tally. */
  public static MetricValue of(Tally tally) {
    return new MetricValue(tally.value(), tally.table());
  }

  /** Returns what JSON shows: the table where there is one, or else the number. */
  public Object shown() {
    return table.isEmpty() ? value : table;
  }
}
