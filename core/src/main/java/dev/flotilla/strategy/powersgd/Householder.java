package dev.flotilla.strategy.powersgd;

import java.util.function.DoubleSupplier;

/**
 * Makes a few long vectors orthonormal by Householder reflections: they then span what they spanned
 * before, and are orthonormal to rounding whatever they were, dependent or zero.
 *
 * <p>In Java and in double precision, so that ranks which start from the same bits end with the
 * same bits, with any number of threads and on any processor. Gram-Schmidt would give anything but
 * orthonormal vectors where they depend on each other.
 */
final class Householder {

  /** What is left of a vector that depends on those before it, of its norm. */
  private static final double DEPENDENT = 1e-10;

  private final double[] values;
  private final int start;
  private final int length;
  private final double[] scales;

  private Householder(double[] values, int start, int count, int length) {
    this.values = values;
    this.start = start;
    this.length = length;
    scales = new double[count];
  }

  /**
   * Makes vectors orthonormal, in place.
   *
   * @param values holds them one behind the other
   * @param start where the first one begins
   * @param count number of vectors, at most their length
   * @param length number of elements of each
   * @param numbers what a vector that depends on those before it is replaced by
   */
  static void orthonormalise(
      double[] values, int start, int count, int length, DoubleSupplier numbers) {
    var vectors = new Householder(values, start, count, length);
    for (int k = 0; k < count; k++) {
      vectors.reduce(k, numbers);
    }
    for (int k = count - 1; k >= 0; k--) {
      vectors.expand(k);
    }
  }

  private int at(int k) {
    return start + k * length;
  }

  /** Finds the reflection that leaves of vector k nothing behind its k-th element. */
  private void reduce(int k, DoubleSupplier numbers) {
    reflect(k, k);
    if (norm(k, k) <= DEPENDENT * norm(k, 0)) {
      for (int i = 0; i < length; i++) {
        values[at(k) + i] = numbers.getAsDouble();
      }
      reflect(k, k);
    }
    double norm = norm(k, k);
    // Away from zero, so that nothing cancels.
    values[at(k) + k] += values[at(k) + k] < 0 ? -norm : norm;
    double square = norm(k, k) * norm(k, k);
    scales[k] = square == 0 ? 0 : 2 / square;
  }

  /** Applies the first reflections to vector k, in their order. */
  private void reflect(int k, int reflections) {
    for (int j = 0; j < reflections; j++) {
      reflect(j, values, at(k));
    }
  }

  private void reflect(int j, double[] vector, int from) {
    double product = 0;
    for (int i = j; i < length; i++) {
      product += values[at(j) + i] * vector[from + i];
    }
    product *= scales[j];
    for (int i = j; i < length; i++) {
      vector[from + i] -= product * values[at(j) + i];
    }
  }

  private double norm(int k, int from) {
    double sum = 0;
    for (int i = from; i < length; i++) {
      sum += values[at(k) + i] * values[at(k) + i];
    }
    return Math.sqrt(sum);
  }

  /** Puts the k-th unit vector, with reflections k to 0 applied, in place of reflection k. */
  private void expand(int k) {
    var vector = new double[length];
    vector[k] = 1;
    for (int j = k; j >= 0; j--) {
      reflect(j, vector, 0);
    }
    System.arraycopy(vector, 0, values, at(k), length);
  }
}
