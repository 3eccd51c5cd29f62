package dev.flotilla.metric;

import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;

/**
 * The fraction of a class's samples that were recognised, averaged over classes.
 *
 * <p>TP / (TP + FN).
 *
 * @param average how the values of classes become one
 */
@Summary("Fraction of a class's samples that were recognised.")
public record RecallScore(
    @Setting(
            doc = "macro: the mean over classes; micro: all answers taken together.",
            def = "macro")
        Average average)
    implements ClassScore {

  /** Averages over classes. */
  public RecallScore() {
    this(Average.MACRO);
  }

  @Override
  public String name() {
    return named("recall");
  }

  @Override
  public Tally start() {
    return new ClassCounts(average, ClassCounts.Counts::recall);
  }
}
