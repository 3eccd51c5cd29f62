package dev.flotilla.metric;

import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;

/**
 * The harmonic mean of precision and recall of a class, averaged over classes.
 *
 * <p>2 TP / (2 TP + FP + FN).
 *
 * @param average how the values of classes become one
 */
@Summary("Harmonic mean of precision and recall.")
public record F1Score(
    @Setting(
            doc = "macro: the mean over classes; micro: all answers taken together.",
            def = "macro")
        Average average)
    implements ClassScore {

  /** Averages over classes. */
  public F1Score() {
    this(Average.MACRO);
  }

  @Override
  public String name() {
    return named("f1");
  }

  @Override
  public Tally start() {
    return new ClassCounts(average, ClassCounts.Counts::f1);
  }
}
