package dev.flotilla.optim;

import dev.flotilla.settings.Check;
import org.jspecify.annotations.Nullable;

/** How the learning rate grows with the batch, against the batch it was found with. */
public enum LrScaling {
  /** Not at all. */
  NONE,
  /** In proportion (Goyal et al., 2017). */
  LINEAR,
  /** With the square root, which keeps the noise of an update the same. */
  SQRT;

  /** Returns the factor for a batch that is so many times the base. */
  public double factor(double ratio) {
    return switch (this) {
      case NONE -> 1;
      case LINEAR -> ratio;
      case SQRT -> Math.sqrt(ratio);
    };
  }

  /** Adds what an optimizer's two settings of scaling must fulfil together. */
  Check check(Check before, @Nullable Integer baseBatch) {
    boolean stated = baseBatch != null;
    return before
        .and(
            baseBatch == null || baseBatch >= 1,
            "base_batch",
            "must be at least 1",
            shown(baseBatch))
        .and(this == NONE || stated, "base_batch", "must be stated with scale_lr", "missing")
        .and(
            this != NONE || !stated,
            "base_batch",
            "has no effect without scale_lr",
            shown(baseBatch));
  }

  private static String shown(@Nullable Integer value) {
    return String.valueOf(value);
  }
}
