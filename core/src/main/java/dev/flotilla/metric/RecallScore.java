package dev.flotilla.metric;

import dev.flotilla.model.Task;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.util.Locale;

/**
 * The fraction of a class's samples that were recognised, averaged over classes.
 *
 * <p>TP / (TP + FN).
 *
 * @param average how the values of classes become one
 */
@Summary("Fraction of a class's samples that were recognised.")
public record RecallScore(
    @Setting(doc = "Mean over classes, or over all answers: macro or micro.", def = "macro")
        Average average)
    implements Metric {

  /** Averages over classes. */
  public RecallScore() {
    this(Average.MACRO);
  }

  @Override
  public String name() {
    return average == Average.MACRO
        ? "recall"
        : "recall_" + average.name().toLowerCase(Locale.ROOT);
  }

  @Override
  public boolean suits(Task task) {
    return task != Task.REGRESSION;
  }

  @Override
  public Tally start() {
    return new ClassCounts(average, ClassCounts.Counts::recall);
  }
}
