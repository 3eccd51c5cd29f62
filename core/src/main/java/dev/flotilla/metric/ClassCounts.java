package dev.flotilla.metric;

import dev.flotilla.model.Answers;
import java.util.function.ToDoubleFunction;

/**
 * Counts hits, guesses and right answers of each class.
 *
 * <p>As in scikit-learn, a class that occurs neither among guesses nor among right answers is left
 * out of a mean, and 0/0 counts as 0.
 */
final class ClassCounts extends Sums {

  /**
   * The counts of one class, or of all together.
   *
   * @param hits guesses of the class that are right
   * @param guessed guesses of the class
   * @param right answers that should have been the class
   */
  record Counts(double hits, double guessed, double right) {

    double precision() {
      return ratio(hits, guessed);
    }

    double recall() {
      return ratio(hits, right);
    }

    double f1() {
      return ratio(2 * hits, guessed + right);
    }

    private static double ratio(double part, double whole) {
      return whole == 0 ? 0 : part / whole;
    }
  }

  private final Average average;
  private final ToDoubleFunction<Counts> score;

  ClassCounts(Average average, ToDoubleFunction<Counts> score) {
    this.average = average;
    this.score = score;
  }

  @Override
  public void update(Answers answers) {
    var choices = Choices.of(answers, 1);
    var counts = new double[3 * choices.classes()];
    for (int i = 0; i < choices.size(); i++) {
      int best = choices.best(i);
      int right = Math.toIntExact(choices.right()[i]);
      counts[3 * best] += best == right ? 1 : 0;
      counts[3 * best + 1]++;
      counts[3 * right + 2]++;
    }
    add(counts);
  }

  @Override
  public double value() {
    return switch (average) {
      case MACRO -> macro();
      case MICRO -> micro();
    };
  }

  private double macro() {
    double sum = 0;
    int classes = 0;
    for (int i = 0; i < length(); i += 3) {
      var counts = new Counts(sum(i), sum(i + 1), sum(i + 2));
      if (counts.guessed() + counts.right() > 0) {
        sum += score.applyAsDouble(counts);
        classes++;
      }
    }
    return sum / classes;
  }

  private double micro() {
    double hits = 0;
    double guessed = 0;
    double right = 0;
    for (int i = 0; i < length(); i += 3) {
      hits += sum(i);
      guessed += sum(i + 1);
      right += sum(i + 2);
    }
    return guessed == 0 ? Double.NaN : score.applyAsDouble(new Counts(hits, guessed, right));
  }
}
