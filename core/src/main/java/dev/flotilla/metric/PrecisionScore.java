package dev.flotilla.metric;

import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;

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
    implements ClassScore {

  /** Averages over classes. */
  public PrecisionScore() {
    this(Average.MACRO);
  }

  @Override
  public String name() {
    return named("precision");
  }

  @Override
  public Tally start() {
    return new ClassCounts(average, ClassCounts.Counts::precision);
  }
}
