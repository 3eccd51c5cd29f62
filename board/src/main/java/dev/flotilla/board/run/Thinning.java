package dev.flotilla.board.run;

import java.util.Arrays;

/**
 * Leaves out points of a curve that nobody would see.
 *
 * <p>n inner points are cut into k = (most − 2) / 2 runs of neighbours, the i-th from ⌊i·n/k⌋ to
 * ⌊(i+1)·n/k⌋. Of each the smallest and the largest value stay, in their order, so that no peak is
 * lost. A run with a value that is no number keeps it in place of the smallest: that a loss was NaN
 * must be seen.
 */
final class Thinning {

  private Thinning() {}

  static Series of(Series series, int most) {
    if (most < 4) {
      throw new IllegalArgumentException("at least 4 points must stay, not " + most);
    }
    int size = series.size();
    if (size <= most) {
      return series;
    }
    int runs = (most - 2) / 2;
    int inner = size - 2;
    var kept = new int[2 + 2 * runs];
    int count = 1; // the first point, 0
    for (int i = 0; i < runs; i++) {
      int from = 1 + (int) ((long) i * inner / runs);
      int to = 1 + (int) ((long) (i + 1) * inner / runs);
      int low = from;
      int high = from;
      for (int at = from; at < to; at++) {
        low = isLower(series.value(at), series.value(low)) ? at : low;
        high = series.value(at) > series.value(high) ? at : high;
      }
      kept[count++] = Math.min(low, high);
      if (low != high) {
        kept[count++] = Math.max(low, high);
      }
    }
    kept[count++] = size - 1;
    return pick(series, Arrays.copyOf(kept, count));
  }

  private static boolean isLower(double value, double lowest) {
    return !Double.isNaN(lowest) && (Double.isNaN(value) || value < lowest);
  }

  private static Series pick(Series series, int[] points) {
    var updates = Arrays.stream(points).mapToDouble(series::update).toArray();
    var values = Arrays.stream(points).mapToDouble(series::value).toArray();
    return Series.of(series.key(), updates, values, points.length);
  }
}
