package dev.flotilla.board.run;

import java.util.Arrays;

/**
 * One curve of a run: values at numbers of updates, in ascending order.
 *
 * <p>Immutable. A value may be NaN or infinite, as a loss may be.
 */
public final class Series {

  private final Key key;
  private final double[] updates;
  private final double[] values;

  /**
   * Which curve it is.
   *
   * @param chart what is measured, and so which curves belong into one chart: {@code loss}
   * @param line which curve of the chart: {@code training}, {@code test}; may be empty
   * @param unit what the values are counted in, such as {@code samples/s}; may be empty
   */
  public record Key(String chart, String line, String unit) {}

  private Series(Key key, double[] updates, double[] values) {
    this.key = key;
    this.updates = updates;
    this.values = values;
  }

  /**
   * Makes a curve of copies of the points.
   *
   * @param updates ascending
   * @param values one for each
   */
  public static Series of(Key key, double[] updates, double[] values) {
    if (updates.length != values.length) {
      throw new IllegalArgumentException(
          "%d updates, but %d values".formatted(updates.length, values.length));
    }
    return new Series(key, updates.clone(), values.clone());
  }

  /** Makes a curve of the first points of longer arrays. */
  static Series of(Key key, double[] updates, double[] values, int size) {
    return new Series(key, Arrays.copyOf(updates, size), Arrays.copyOf(values, size));
  }

  /** Returns which curve it is. */
  public Key key() {
    return key;
  }

  /** Returns the number of points. */
  public int size() {
    return values.length;
  }

  /** Returns the number of updates at a point. */
  public double update(int point) {
    return updates[point];
  }

  /** Returns the value of a point. */
  public double value(int point) {
    return values[point];
  }

  /** Returns the last value. */
  public double last() {
    return values[values.length - 1];
  }

  /**
   * Returns a curve of at most this many points that looks the same: of each of equally many
   * neighbours the smallest and the largest stay, and the first and last point of all.
   *
   * @param most at least 4
   */
  public Series thinned(int most) {
    return Thinning.of(this, most);
  }
}
