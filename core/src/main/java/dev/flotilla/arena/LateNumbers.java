package dev.flotilla.arena;

import dev.flotilla.memory.LateCopy;
import dev.flotilla.memory.NativeView;
import java.lang.foreign.ValueLayout;

/**
 * What a device has found in an accumulation window: its loss, and whether all numbers are finite.
 * Who asks for it waits until the device has come so far.
 *
 * <p>It must be asked before the next window is.
 */
public final class LateNumbers {

  private final LateCopy copy;
  private final long count;
  private double lossSum;
  private boolean isFinite;
  private boolean isRead;

  LateNumbers(LateCopy copy, long count) {
    this.copy = copy;
    this.count = count;
  }

  /** Tells whether neither the loss nor a gradient was infinite or undefined. */
  public boolean isFinite() {
    read();
    return isFinite;
  }

  /** Returns the totals of the window, whose loss is waited for when it is asked for. */
  public Totals totals() {
    return new Totals(this::lossSum, count);
  }

  private double lossSum() {
    read();
    return lossSum;
  }

  private void read() {
    if (!isRead) {
      var numbers = NativeView.of(copy.await());
      lossSum = numbers.getAtIndex(ValueLayout.JAVA_FLOAT, 0);
      isFinite = numbers.getAtIndex(ValueLayout.JAVA_FLOAT, WindowTotals.FOUND) == 0;
      isRead = true;
    }
  }
}
