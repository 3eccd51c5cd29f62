package dev.flotilla.report.tensorboard;

import java.util.Arrays;

/**
 * How many numbers lie between which limits, with TensorFlow's buckets: each is 10 % wider than the
 * one before, from 1e-12 to 1e20, on both sides of 0.
 *
 * <p>Numbers that are infinite or undefined are left out.
 */
public final class Histogram {

  private static final double SMALLEST = 1e-12;
  private static final double GROWTH = 1.1;
  private static final double[] POSITIVE = positive();
  private static final double[] LIMITS = limits();
  private static final double PER_LOG = 1 / Math.log(GROWTH);

  private final double[] counts = new double[LIMITS.length];
  private double least = Double.POSITIVE_INFINITY;
  private double largest = Double.NEGATIVE_INFINITY;
  private double sum;
  private double squares;
  private long count;

  private static double[] positive() {
    int size = 0;
    for (double limit = SMALLEST; limit < 1e20; limit *= GROWTH) {
      size++;
    }
    var limits = new double[size + 1];
    double limit = SMALLEST;
    for (int i = 0; i < size; i++, limit *= GROWTH) {
      limits[i] = limit;
    }
    limits[size] = Double.MAX_VALUE;
    return limits;
  }

  private static double[] limits() {
    int size = POSITIVE.length;
    var limits = new double[2 * size + 1];
    for (int i = 0; i < size; i++) {
      limits[size - 1 - i] = -POSITIVE[i];
      limits[size + 1 + i] = POSITIVE[i];
    }
    return limits;
  }

  /** Adds numbers. */
  public void add(double[] values) {
    for (double value : values) {
      if (Double.isFinite(value)) {
        counts[bucket(value)]++;
        least = Math.min(least, value);
        largest = Math.max(largest, value);
        sum += value;
        squares += value * value;
        count++;
      }
    }
  }

  /** Returns the first bucket whose limit is greater. */
  private static int bucket(double value) {
    int zero = POSITIVE.length;
    if (value == 0) {
      return zero + 1;
    }
    // A logarithm is off by one at most, which is quicker mended than found by halving.
    double steps = Math.log(Math.abs(value) / SMALLEST) * PER_LOG;
    int near = (int) Math.clamp(steps, 0, POSITIVE.length - 1);
    int bucket = value > 0 ? zero + 1 + near : zero - 1 - near;
    while (bucket > 0 && LIMITS[bucket - 1] > value) {
      bucket--;
    }
    while (bucket < LIMITS.length - 1 && LIMITS[bucket] <= value) {
      bucket++;
    }
    return bucket;
  }

  /** Returns TensorFlow's HistogramProto; buckets without numbers in a row become one. */
  Proto toProto() {
    var ends = new double[LIMITS.length];
    var sizes = new double[LIMITS.length];
    int used = 0;
    for (int i = 0; i < LIMITS.length; i++) {
      boolean continues = used > 0 && sizes[used - 1] == 0 && counts[i] == 0;
      used += continues ? 0 : 1;
      ends[used - 1] = LIMITS[i];
      sizes[used - 1] = counts[i];
    }
    return new Proto()
        .real(1, count == 0 ? 0 : least)
        .real(2, count == 0 ? 0 : largest)
        .real(3, count)
        .real(4, sum)
        .real(5, squares)
        .reals(6, Arrays.copyOf(ends, used))
        .reals(7, Arrays.copyOf(sizes, used));
  }
}
