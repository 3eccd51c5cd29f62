package dev.flotilla.verify;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Finds what a gradient is made of: the numbers cᵢ with G = Σᵢ cᵢ gᵢ, by least squares over the
 * gradients gᵢ of micro-batches.
 *
 * <p>Orthogonalises the gᵢ twice (Gram and Schmidt), which keeps about as many digits as the
 * gradients have.
 */
final class LeastSquares {

  private static final double DEPENDENT = 1e-9;
  private static final double UNEXPLAINED = 1e-8;

  private final List<double[]> basis = new ArrayList<>();
  private final List<double[]> triangle = new ArrayList<>();

  private LeastSquares() {}

  /**
   * Returns the coefficients; empty if the gradients are not independent or do not explain G.
   *
   * @param target G
   * @param columns the gᵢ, as long as G
   */
  static Optional<double[]> of(double[] target, List<double[]> columns) {
    var system = new LeastSquares();
    for (var column : columns) {
      if (!system.add(column)) {
        return Optional.empty();
      }
    }
    double[] rest = target.clone();
    double[] projected = system.project(rest);
    boolean explained = norm(rest) <= UNEXPLAINED * norm(target);
    return explained ? Optional.of(system.solve(projected)) : Optional.empty();
  }

  private boolean add(double[] column) {
    double[] rest = column.clone();
    double size = norm(column);
    double[] first = project(rest);
    double[] second = project(rest);
    double left = norm(rest);
    if (!(left > DEPENDENT * size)) {
      return false;
    }
    double[] entries = java.util.Arrays.copyOf(first, first.length + 1);
    for (int i = 0; i < second.length; i++) {
      entries[i] += second[i];
    }
    entries[first.length] = left;
    triangle.add(entries);
    for (int i = 0; i < rest.length; i++) {
      rest[i] /= left;
    }
    basis.add(rest);
    return true;
  }

  /** Takes what the basis explains out of a vector and returns its coordinates. */
  private double[] project(double[] vector) {
    var coordinates = new double[basis.size()];
    for (int b = 0; b < coordinates.length; b++) {
      double[] direction = basis.get(b);
      double along = 0;
      for (int i = 0; i < vector.length; i++) {
        along += direction[i] * vector[i];
      }
      for (int i = 0; i < vector.length; i++) {
        vector[i] -= along * direction[i];
      }
      coordinates[b] = along;
    }
    return coordinates;
  }

  private double[] solve(double[] projected) {
    double[] solution = projected.clone();
    for (int column = solution.length - 1; column >= 0; column--) {
      double[] entries = triangle.get(column);
      solution[column] /= entries[column];
      for (int row = 0; row < column; row++) {
        solution[row] -= entries[row] * solution[column];
      }
    }
    return solution;
  }

  private static double norm(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value * value;
    }
    return Math.sqrt(sum);
  }
}
