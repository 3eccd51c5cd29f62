package dev.flotilla.metric;

import dev.flotilla.model.Task;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.util.Locale;

/**
 * The fraction of guesses of a class that are right, averaged over classes.
 *
 * <p>TP / (TP + FP).
 *
 * @param average how the values of classes become one
 */
@Summary("Fraction of guesses of a class that are right.")
public record PrecisionScore(
    @Setting(doc = "Mean over classes, or over all answers: macro or micro.", def = "macro")
        Average average)
    implements Metric {

  /** Averages over classes. */
  public PrecisionScore() {
    this(Average.MACRO);
  }

  @Override
  public String name() {
    return average == Average.MACRO
        ? "precision"
        : "precision_" + average.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public boolean suits(Task task) {
    return task != Task.REGRESSION;
  }

  @Override
  public Tally start() {
    return new ClassCounts(average, ClassCounts.Counts::precision);
  }
}
