package dev.flotilla.arena;

/**
 * What a window's gradient is the sum of.
 *
 * @param lossSum the sum of the loss over all terms
 * @param count the number of terms
 */
public record Totals(double lossSum, long count) {

  /** Returns the mean loss, or NaN without terms. */
  public double meanLoss() {
    return count == 0 ? Double.NaN : lossSum / count;
  }
}
