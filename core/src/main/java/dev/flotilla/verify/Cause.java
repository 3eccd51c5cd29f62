package dev.flotilla.verify;

/**
 * Why merged micro-batches are not the one large batch.
 *
 * @param kind what it is
 * @param message what was measured and how to mend it, in plain sentences
 */
public record Cause(Kind kind, String message) {

  /** The kinds of causes that probing can tell apart. */
  public enum Kind {
    /** A normalisation over the batch, with statistics that evaluation uses instead. */
    BATCH_NORM("BatchNorm"),
    /** A sample's output depends on the other samples, in evaluation too. */
    MIXED_SAMPLES("a model that mixes samples"),
    /** The loss of a batch is not a sum over its samples. */
    COUPLING_LOSS("a loss that couples samples"),
    /** Random numbers that evaluation does not switch off. */
    RANDOMNESS("dropout"),
    /** A mean is taken too early, over counts that differ. */
    UNEQUAL_COUNTS("a mean over unequal counts"),
    /** The incomplete last accumulation window of an epoch. */
    TAIL("the tail"),
    /** Micro-batches are added up and not divided. */
    SUM("sums instead of means"),
    /** The gradient is divided by another number than it should be. */
    DIVISOR("a wrong divisor"),
    /** Updates come after the wrong micro-batches. */
    BOUNDARY("updates after the wrong micro-batches"),
    /** The gradients agree, but what the optimizer makes of them does not. */
    UPDATE("the update"),
    /** Infinite numbers or NaN. */
    NOT_FINITE("numbers that are not finite"),
    /** None of these. */
    UNEXPLAINED("a cause that was not found");

    private final String title;

    Kind(String title) {
      this.title = title;
    }

    /** Returns its name for people. */
    public String title() {
      return title;
    }
  }
}
