package dev.flotilla.model;

import org.bytedeco.pytorch.Tensor;

/**
 * A loss before division: the divisor is the count over the whole accumulation window and all
 * ranks, which only the engine knows.
 *
 * @param sum the sum of the loss over its terms, a single number with a graph behind it
 * @param count the number of terms: samples, or tokens that are not masked
 */
public record LossTerms(Tensor sum, long count) {

  /** Checks that the sum is a single number and the count is not negative. */
  public LossTerms {
    if (sum.numel() != 1) {
      throw new IllegalArgumentException(
          "a loss must be a sum, a single number, but has " + sum.numel() + " elements");
    }
    if (count < 0) {
      throw new IllegalArgumentException("the number of loss terms must be >= 0, but was " + count);
    }
  }
}
