package dev.flotilla.config;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.train.Every;

/**
 * When and how the test data is scored.
 *
 * @param every when
 * @param batch samples at once
 */
public record Eval(
    @Setting(
            doc = "When to score the test data: epoch, end, or a number of updates.",
            def = "epoch")
        Every every,
    @Setting(doc = "Samples scored at once.", def = "256") int batch) {

  /** Checks the batch. */
  public Eval {
    Check.that(batch >= 1, "batch", "must be at least 1", batch).orThrow();
  }
}
