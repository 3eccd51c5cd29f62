package dev.flotilla.metric;

import dev.flotilla.model.Answers;
import dev.flotilla.model.Task;
import dev.flotilla.settings.Summary;
import java.util.ArrayList;
import java.util.List;

/**
 * How often each class was taken for each: a row for each right class, a column for each guess.
 *
 * <p>Its value is the fraction of answers on the diagonal; events and summaries show the table.
 */
@Summary("How often each class (row) was taken for each (column).")
public record ConfusionMatrix() implements Metric {

  private static final int MOST_CLASSES = 4096;

  @Override
  public String name() {
    return "confusion_matrix";
  }

  @Override
  public boolean suits(Task task) {
    return task != Task.REGRESSION;
  }

  @Override
  public Tally start() {
    return new Cells();
  }

  private static final class Cells extends Sums {

    @Override
    public void update(Answers answers) {
      var choices = Choices.of(answers, 1);
      int classes = choices.classes();
      if (classes > MOST_CLASSES) {
        throw new IllegalArgumentException(
            "it takes %d classes at most, but there are %d".formatted(MOST_CLASSES, classes));
      }
      var cells = new double[classes * classes];
      for (int i = 0; i < choices.size(); i++) {
        cells[Math.toIntExact(choices.right()[i]) * classes + choices.best(i)]++;
      }
      add(cells);
    }

    private int classes() {
      return (int) Math.round(Math.sqrt(length()));
    }

    @Override
    public double value() {
      double right = 0;
      double all = 0;
      for (int i = 0; i < length(); i++) {
        all += sum(i);
        right += i % (classes() + 1) == 0 ? sum(i) : 0;
      }
      return right / all;
    }

    @Override
    public List<List<Long>> table() {
      List<List<Long>> rows = new ArrayList<>();
      for (int row = 0; row < classes(); row++) {
        List<Long> cells = new ArrayList<>();
        for (int column = 0; column < classes(); column++) {
          cells.add((long) sum(row * classes() + column));
        }
        rows.add(cells);
      }
      return rows;
    }
  }
}
