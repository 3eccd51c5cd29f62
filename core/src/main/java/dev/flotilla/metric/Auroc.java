package dev.flotilla.metric;

import dev.flotilla.model.Answers;
import dev.flotilla.model.Task;
import dev.flotilla.settings.Summary;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The area under the ROC curve: how probable it is that a sample of a class gets a higher
 * probability for it than one of another class, equal ones counted half. Of several classes, each
 * against the rest, and the mean over classes.
 *
 * <p>Keeps the probabilities of all samples, on every rank once they are merged. Not defined (NaN)
 * where a class has no sample.
 */
@Summary("Area under the ROC curve; of several classes the mean of each against the rest.")
public record Auroc() implements Metric {

  @Override
  public String name() {
    return "auroc";
  }

  @Override
  public boolean suits(Task task) {
    return task != Task.REGRESSION;
  }

  @Override
  public Tally start() {
    return new Scores();
  }

  /** Rows of the right class and a probability for each class; of two, for the second alone. */
  private static final class Scores implements Tally {

    private int width;
    private double[] rows = new double[0];
    private int used;

    @Override
    public void update(Answers answers) {
      Choices.requireClasses(answers);
      int classes = Math.toIntExact(answers.outputs().size(1));
      var logits = Numbers.reals(answers.outputs());
      var right = Numbers.integers(answers.targets());
      for (int i = 0; i < right.length; i++) {
        var row = Arrays.copyOfRange(logits, i * classes, (i + 1) * classes);
        add(right[i], probabilities(row));
      }
    }

    private static double[] probabilities(double[] logits) {
      double largest = Arrays.stream(logits).max().orElse(0);
      var shares = Arrays.stream(logits).map(it -> Math.exp(it - largest)).toArray();
      double sum = Arrays.stream(shares).sum();
      var all = Arrays.stream(shares).map(it -> it / sum).toArray();
      return all.length == 2 ? new double[] {all[1]} : all;
    }

    private void add(double right, double[] probabilities) {
      width = probabilities.length + 1;
      if (used + width > rows.length) {
        rows = Arrays.copyOf(rows, Math.max(1024, 2 * (used + width)));
      }
      rows[used] = right;
      System.arraycopy(probabilities, 0, rows, used + 1, probabilities.length);
      used += width;
    }

    /** The width comes first. */
    @Override
    public double[] state() {
      if (used == 0) {
        return new double[0];
      }
      var state = new double[used + 1];
      state[0] = width;
      System.arraycopy(rows, 0, state, 1, used);
      return state;
    }

    @Override
    public void merge(double[] state) {
      int columns = (int) state[0];
      for (int i = 1; i < state.length; i += columns) {
        add(state[i], Arrays.copyOfRange(state, i + 1, i + columns));
      }
    }

    @Override
    public double value() {
      if (width == 2) {
        return area(1, 1);
      }
      double sum = 0;
      for (int column = 1; column < width; column++) {
        sum += area(column, column - 1);
      }
      return width == 0 ? Double.NaN : sum / (width - 1);
    }

    /** By the ranks of probabilities (Mann-Whitney), of which equal ones share their mean. */
    private double area(int column, int ofClass) {
      int samples = used / width;
      var order =
          IntStream.range(0, samples)
              .boxed()
              .sorted(Comparator.comparingDouble(i -> rows[i * width + column]))
              .mapToInt(Integer::intValue)
              .toArray();
      double rankSum = 0;
      double positives = 0;
      for (int from = 0; from < samples; ) {
        int to = from;
        double hits = 0;
        double probability = rows[order[from] * width + column];
        while (to < samples && rows[order[to] * width + column] == probability) {
          hits += rows[order[to] * width] == ofClass ? 1 : 0;
          to++;
        }
        rankSum += hits * (from + 1 + to) / 2.0;
        positives += hits;
        from = to;
      }
      double below = rankSum - positives * (positives + 1) / 2;
      return below / (positives * (samples - positives));
    }
  }
}
