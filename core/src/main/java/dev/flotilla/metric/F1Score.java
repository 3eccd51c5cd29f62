package dev.flotilla.metric;

import dev.flotilla.model.Task;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.util.Locale;

/**
 * The harmonic mean of precision and recall of a class, averaged over classes.
 *
 * <p>2 TP / (2 TP + FP + FN).
 *
 * @param average how the values of classes become one
 */
@Summary("Harmonic mean of precision and recall.")
public record F1Score(
    @Setting(doc = "Mean over classes, or over all answers: macro or micro.", def = "macro")
        Average average)
    implements Metric {

  /** Averages over classes. */
  public F1Score() {
    this(Average.MACRO);
  }

  @Override
  public String name() {
    return average == Average.MACRO ? "f1" : "f1_" + average.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public boolean suits(Task task) {
    return task != Task.REGRESSION;
  }

  @Override
  public Tally start() {
    return new ClassCounts(average, ClassCounts.Counts::f1);
  }
}
