package dev.flotilla.arena;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.function.DoubleSupplier;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The loss sum and count of an accumulation window, which ride behind the last gradient.
 *
 * <p>The count is stored as two numbers, high and low, so that float32 holds it exactly after a sum
 * over up to 4,096 ranks, up to 2^36 terms in all. A rank that has something to say to all of them
 * {@linkplain #raise adds a fraction} to the high one: so ranks hear of it with the sum that they
 * make anyway, and no sum changes while nobody speaks.
 *
 * <p>Another number follows, which is not exchanged: whether a gradient was found that is not
 * finite, where scaling looks for them. What is read from a device is read at once, so that an
 * update waits for it one time at most.
 */
final class WindowTotals implements AutoCloseable {

  /** Numbers that are exchanged: loss sum, high, low. */
  static final int NUMBERS = 3;

  /** Where the finding lies behind them. */
  static final int FOUND = 3;

  /** All numbers. */
  static final int ALL = 4;

  private static final long COUNT_BASE = 1 << 12;
  private static final long UNKNOWN = -1;

  private final Tensor lossSum;
  private final Tensor numbers;
  private final @Nullable Tensor onDevice;
  private final Tail tail;
  private @Nullable LaterLoss waiting;
  private long count;
  private double fraction;
  private double sealedHigh;
  private boolean isCountWritten = true;
  private long changes;

  /** Takes the end of a flat tensor, which stays the caller's, from an element on. */
  WindowTotals(Tensor all, long offset, Precision precision, ComputeDevice device) {
    try (var _ = TensorScope.open()) {
      lossSum = TensorScope.keep(all.narrow(0, offset, 1));
      numbers = TensorScope.keep(all.narrow(0, offset, ALL));
      onDevice = device.isCuda() ? numbers : null;
      tail =
          onDevice == null
              ? new HostTail(NativeView.of(all).asSlice(offset * precision.bytes()), precision)
              : new DeviceTail(onDevice);
    }
  }

  /** Adds the loss of one micro-step. */
  void add(Tensor sum, long terms) {
    addSum(sum);
    count(terms);
  }

  /** Adds the sum of a loss whose terms are counted elsewhere. */
  void addSum(Tensor sum) {
    try (var detached = sum.detach()) {
      lossSum.add_(detached);
    }
  }

  /** Counts the terms of a loss whose sum is added elsewhere. */
  void count(long terms) {
    count += terms;
    change();
  }

  /** Hears that the numbers have changed, or will: an earlier loss cannot be read any more. */
  void change() {
    changes++;
    tail.changed();
  }

  /** Hears that a scaling has looked for gradients that are not finite. */
  void searched() {
    tail.changed();
  }

  /** Tells whether a scaling has found a gradient that is not finite. */
  boolean isFound() {
    return tail.get(FOUND) != 0;
  }

  /** Writes the count, before it is exchanged; on a device, when it is. */
  void seal() {
    isCountWritten = false;
    if (onDevice == null) {
      writeCount();
    }
  }

  /** Writes the count if it is not written yet. */
  void writeCount() {
    if (isCountWritten) {
      return;
    }
    isCountWritten = true;
    double high = Math.floorDiv(count, COUNT_BASE) + fraction;
    if (high != sealedHigh) {
      tail.set(1, high);
      sealedHigh = high;
    }
    tail.set(2, (double) Math.floorMod(count, COUNT_BASE));
  }

  void raise(int ranks) {
    fraction = 0.5 / Integer.highestOneBit(ranks);
    isCountWritten = false;
  }

  void lower() {
    fraction = 0;
  }

  boolean isRaised() {
    return fraction > 0;
  }

  boolean isRaisedByAny() {
    double high = tail.get(1);
    return high != Math.floor(high);
  }

  Totals read() {
    writeCount();
    long terms = ((long) tail.get(1)) * COUNT_BASE + (long) tail.get(2);
    return new Totals(tail.get(0), terms);
  }

  double lossSum() {
    return tail.get(0);
  }

  Totals readLater() {
    return onDevice == null ? read() : new Totals(new LaterLoss(), count);
  }

  /** Reads the loss sum once it is asked for. */
  private final class LaterLoss implements DoubleSupplier {

    private final long asOf = changes;
    private double value;
    private boolean isRead;

    LaterLoss() {
      waiting = this;
    }

    @Override
    public double getAsDouble() {
      if (!isRead) {
        if (asOf != changes) {
          throw new IllegalStateException(
              "the loss of an earlier micro-step is gone: read it then");
        }
        value = tail.get(0);
        isRead = true;
      }
      return value;
    }
  }

  /** Returns all numbers. */
  Tensor numbers() {
    return numbers;
  }

  /** Returns the sum of the loss. */
  Tensor loss() {
    return lossSum;
  }

  /** Returns the terms that were counted. */
  long count() {
    return count;
  }

  /** Reads what may still be asked for, before all numbers become zero. */
  void beforeClear() {
    if (waiting != null && waiting.asOf == changes) {
      waiting.getAsDouble();
    }
  }

  /** Makes the numbers zero, where gradients stay as they are. */
  void zero() {
    numbers.zero_();
  }

  /** Begins the next window: all numbers are zero. */
  void cleared() {
    count = 0;
    sealedHigh = 0;
    isCountWritten = fraction == 0;
    change();
  }

  /** Puts down, or takes up, the count, once the numbers themselves are. */
  void remember(State summed) {
    count = summed.number("count", count);
    // A sum of tails has no carry: what was written on other ranks is not how this count is split.
    sealedHigh = UNKNOWN;
    isCountWritten = false;
    writeCount();
    change();
  }

  @Override
  public void close() {
    tail.close();
    TensorScope.free(numbers);
    TensorScope.free(lossSum);
  }
}
