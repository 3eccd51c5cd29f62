package dev.flotilla.zoo.table;

import java.util.List;
import java.util.stream.IntStream;

/** Learns of training rows what a column is normalised by, in one pass and constant memory. */
final class Statistics {

  private final TablePlan plan;
  private final long[] counts;
  private final double[] means;
  private final double[] squares;
  private final double[] least;
  private final double[] most;
  private final long[][] occurrences;

  Statistics(TablePlan plan) {
    int width = plan.width();
    this.plan = plan;
    counts = new long[width];
    means = new double[width];
    squares = new double[width];
    least = new double[width];
    most = new double[width];
    occurrences = new long[width][];
    for (int at = 0; at < width; at++) {
      least[at] = Double.POSITIVE_INFINITY;
      most[at] = Double.NEGATIVE_INFINITY;
      occurrences[at] = plan.isCategory(at) ? new long[Dictionary.MOST] : new long[0];
    }
  }

  /** Adds a row; mean and squared differences after Welford (1962). */
  void add(float[] row) {
    for (int at = 0; at < row.length; at++) {
      double value = row[at];
      if (Double.isNaN(value)) {
        continue;
      }
      if (occurrences[at].length > 0) {
        occurrences[at][(int) value]++;
        continue;
      }
      long count = ++counts[at];
      double difference = value - means[at];
      means[at] += difference / count;
      squares[at] += difference * (value - means[at]);
      least[at] = Math.min(least[at], value);
      most[at] = Math.max(most[at], value);
    }
  }

  /** Tells whether no training row has a value at this place. */
  boolean isEmpty(int at) {
    return occurrences[at].length > 0
        ? IntStream.range(0, Dictionary.MOST).noneMatch(number -> occurrences[at][number] > 0)
        : counts[at] == 0;
  }

  /** Returns what is learned of a column of numbers; one that never changes is only centred. */
  Feature number(int at, Scaling scaling) {
    double center =
        switch (scaling) {
          case STANDARDIZE -> means[at];
          case MIN_MAX -> least[at];
          case NONE -> 0;
        };
    double scale =
        switch (scaling) {
          case STANDARDIZE -> Math.sqrt(squares[at] / counts[at]);
          case MIN_MAX -> most[at] - least[at];
          case NONE -> 1;
        };
    return new Feature(
        plan.nameAt(at), ColumnType.NUMBER, center, scale > 0 ? scale : 1, means[at], List.of());
  }

  /** Returns what is learned of a column of categories: those that training rows have. */
  Feature category(int at, Dictionary dictionary) {
    var names = seen(at, dictionary).stream().sorted().toList();
    int frequent = 0;
    for (int i = 1; i < names.size(); i++) {
      if (count(at, dictionary, names.get(i)) > count(at, dictionary, names.get(frequent))) {
        frequent = i;
      }
    }
    return new Feature(plan.nameAt(at), ColumnType.CATEGORY, 0, 1, frequent, names);
  }

  private long count(int at, Dictionary dictionary, String name) {
    return occurrences[at][dictionary.find(name)];
  }

  /** Returns the categories that training rows have. */
  List<String> seen(int at, Dictionary dictionary) {
    return dictionary.names().stream().filter(name -> count(at, dictionary, name) > 0).toList();
  }
}
