package dev.flotilla.metric;

import dev.flotilla.model.Answers;
import dev.flotilla.model.Task;
import dev.flotilla.settings.Summary;

/**
 * The part of the targets' variance that the outputs explain, 1 − Σ (y − z)² / Σ (y − ȳ)²; of
 * several numbers per sample, the mean over them.
 */
@Summary("Part of the targets' variance that the outputs explain.")
public record R2Score() implements Metric {

  @Override
  public String name() {
    return "r2";
  }

  @Override
  public boolean suits(Task task) {
    return task != Task.CLASSIFICATION;
  }

  @Override
  public Tally start() {
    return new Variances();
  }

  /**
   * Keeps, for each column, the sum of squared errors, the mean of the targets and the sum of their
   * squared distances from it. Means merge by Chan's formula, as differences of large sums would
   * lose what is left of them.
   */
  private static final class Variances implements Tally {

    /** The number of samples; then error, mean and distance of each column. */
    private double[] state = new double[0];

    @Override
    public void update(Answers answers) {
      var pairs = Pairs.of(answers);
      int columns = pairs.columns();
      for (int i = 0; i < pairs.given().length; i += columns) {
        var one = new double[1 + 3 * columns];
        one[0] = 1;
        for (int column = 0; column < columns; column++) {
          double right = pairs.right()[i + column];
          double error = right - pairs.given()[i + column];
          one[1 + 3 * column] = error * error;
          one[2 + 3 * column] = right;
        }
        merge(one);
      }
    }

    @Override
    public double[] state() {
      return state.clone();
    }

    @Override
    public void merge(double[] other) {
      if (state.length == 0) {
        state = other.clone();
        return;
      }
      double before = state[0];
      double all = before + other[0];
      for (int i = 1; i < state.length; i += 3) {
        double apart = other[i + 1] - state[i + 1];
        state[i] += other[i];
        state[i + 1] += apart * other[0] / all;
        state[i + 2] += other[i + 2] + apart * apart * before * other[0] / all;
      }
      state[0] = all;
    }

    @Override
    public double value() {
      double sum = 0;
      for (int i = 1; i < state.length; i += 3) {
        sum += 1 - state[i] / state[i + 2];
      }
      return state.length == 0 ? Double.NaN : sum / ((state.length - 1) / 3.0);
    }
  }
}
