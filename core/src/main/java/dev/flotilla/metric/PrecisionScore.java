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
    @Setting(
            doc = "macro: the mean over classes; micro: all answers taken together.",
            def = "macro")
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
