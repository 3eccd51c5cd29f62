package dev.flotilla.board.run;

import java.util.Arrays;

/** A curve that still grows. */
final class Points {

  private double[] updates = new double[64];
  private double[] values = new double[64];
  private int size;

  /** Adds a point; one at the same update, or behind it, is void, as the run went back. */
  void add(double update, double value) {
    cutFrom(update);
    if (size == values.length) {
      updates = Arrays.copyOf(updates, 2 * size);
      values = Arrays.copyOf(values, 2 * size);
    }
    updates[size] = update;
    values[size] = value;
    size++;
  }

  /** Drops the points at this update and behind it. */
  void cutFrom(double update) {
    while (size > 0 && updates[size - 1] >= update) {
      size--;
    }
  }

  boolean isEmpty() {
    return size == 0;
  }

  Series series(Series.Key key) {
    return Series.of(key, updates, values, size);
  }
}
