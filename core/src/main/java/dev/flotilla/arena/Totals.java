package dev.flotilla.arena;

import java.util.function.DoubleSupplier;

/**
 * What an accumulation window's gradient is the sum of.
 *
 * <p>The number of terms is there at once; the loss is read where it is asked for, as on a device
 * that means to wait for everything started before.
 */
public final class Totals {

  private final DoubleSupplier lossSum;
  private final long count;

  /** States both numbers. */
  public Totals(double lossSum, long count) {
    this(() -> lossSum, count);
  }

  /** States the number of terms, and how to read the sum of the loss. */
  Totals(DoubleSupplier lossSum, long count) {
    this.lossSum = lossSum;
    this.count = count;
  }

  /** Returns the sum of the loss over all terms. */
  public double lossSum() {
    return lossSum.getAsDouble();
  }

  /** Returns the number of terms. */
  public long count() {
    return count;
  }

  /** Returns the mean loss, or NaN without terms. */
  public double meanLoss() {
    return count == 0 ? Double.NaN : lossSum() / count;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Totals totals
        && Double.compare(lossSum(), totals.lossSum()) == 0
        && count == totals.count;
  }

  @Override
  public int hashCode() {
    return Double.hashCode(lossSum()) * 31 + Long.hashCode(count);
  }

  @Override
  public String toString() {
    return "Totals[lossSum=%s, count=%d]".formatted(lossSum(), count);
  }
}
