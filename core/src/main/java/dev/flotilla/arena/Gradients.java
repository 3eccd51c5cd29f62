package dev.flotilla.arena;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.State;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.bytedeco.pytorch.Tensor;

/**
 * The flat gradient tensor, with the window's loss sum and count riding behind the last element.
 *
 * <p>The count is stored as two numbers, high and low, so that float32 holds it exactly after a sum
 * over up to 4,096 ranks, up to 2^36 terms in all.
 */
public final class Gradients implements AutoCloseable {

  private static final int TAIL = 3;
  private static final long COUNT_BASE = 1 << 12;

  private final Layout layout;
  private final Tensor withTail;
  private final Tensor values;
  private final Tensor lossSum;
  private final MemorySegment tail;
  private long count;
  private boolean isOwn;
  private boolean areAllFinite;
  private double factor = 1;

  Gradients(Layout layout) {
    this.layout = layout;
    long length = layout.length();
    try (var _ = TensorScope.open()) {
      var flat = Tensors.zeros(layout.precision().scalarType(), length + TAIL);
      withTail = TensorScope.keep(flat);
      values = TensorScope.keep(flat.narrow(0, 0, length));
      lossSum = TensorScope.keep(flat.narrow(0, length, 1));
      tail = NativeView.of(flat).asSlice(layout.bytes());
    }
  }

  /** Returns the gradients of all parameters, without the tail. */
  public Tensor values() {
    return values;
  }

  /** Returns where each parameter's gradient lies. */
  public Layout layout() {
    return layout;
  }

  /** Returns a slice to exchange; the one that ends the arena takes the tail along. */
  public Tensor slice(Bucket bucket) {
    boolean last = bucket.offset() + bucket.length() == layout.length();
    return withTail.narrow(0, bucket.offset(), bucket.length() + (last ? TAIL : 0));
  }

  /** Returns a part of the gradients without the tail. */
  public Tensor part(Bucket bucket) {
    return values.narrow(0, bucket.offset(), bucket.length());
  }

  /** Returns loss sum and count, for an exchange that sends them apart from the gradients. */
  public Tensor tail() {
    return withTail.narrow(0, layout.length(), TAIL);
  }

  /** Adds the loss of one micro-step to the window's totals. */
  public void addLoss(Tensor sum, long terms) {
    try (var detached = sum.detach()) {
      lossSum.add_(detached);
    }
    count += terms;
  }

  /** Writes the count into the tail, before it is exchanged. */
  public void sealTotals() {
    setTail(1, (double) Math.floorDiv(count, COUNT_BASE));
    setTail(2, (double) Math.floorMod(count, COUNT_BASE));
  }

  /** Reads the totals from the tail: this rank's before an exchange, all ranks' after it. */
  public Totals totals() {
    long terms = ((long) tailAt(1)) * COUNT_BASE + (long) tailAt(2);
    return new Totals(tailAt(0), terms);
  }

  /**
   * Lets filters work on this rank's gradients before they are shared, until the window ends. What
   * they are multiplied by is then only noted, for an exchange that multiplies on its way.
   *
   * @param allFinite whether the gradients of all ranks are finite
   */
  public void judgeBeforeSharing(boolean allFinite) {
    isOwn = true;
    areAllFinite = allFinite;
  }

  /** Tells whether filters see the gradients of this rank alone. */
  public boolean isOwn() {
    return isOwn;
  }

  /** Returns what the gradients have still to be multiplied by. */
  public double factor() {
    return factor;
  }

  /** Multiplies all gradients. */
  public void scale(double by) {
    if (isOwn) {
      factor *= by;
    } else {
      Tensors.scale(values, by);
    }
  }

  /** Returns the Euclidean norm of all gradients. */
  public double norm() {
    try (var norm = values.norm()) {
      return Math.abs(factor) * norm.item_double();
    }
  }

  /** Tells whether no gradient is infinite or undefined, on any rank. */
  public boolean isFinite() {
    return isOwn ? areAllFinite : isFinite(values);
  }

  /** Tells whether no gradient that this rank holds is infinite or undefined. */
  public boolean isFiniteHere() {
    return isFinite(values);
  }

  /** Tells whether no gradient of one parameter is infinite or undefined. */
  public boolean isFinite(Slot slot) {
    try (var part = values.narrow(0, slot.offset(), slot.length())) {
      return isFinite(part);
    }
  }

  private static boolean isFinite(Tensor part) {
    try (var _ = TensorScope.open()) {
      // Both ends are NaN if any element is.
      var ends = part.aminmax();
      return Double.isFinite(ends.get0().item_double())
          && Double.isFinite(ends.get1().item_double());
    }
  }

  /** Clears gradients and totals for the next window. */
  public void clear() {
    withTail.zero_();
    count = 0;
    isOwn = false;
    factor = 1;
  }

  /** Puts down, or takes up, the sums of a window that has not ended. */
  public void remember(State summed) {
    summed.tensor("gradients", withTail);
    count = summed.number("count", count);
  }

  private double tailAt(int index) {
    return isDouble()
        ? tail.getAtIndex(ValueLayout.JAVA_DOUBLE, index)
        : tail.getAtIndex(ValueLayout.JAVA_FLOAT, index);
  }

  private void setTail(int index, double value) {
    if (isDouble()) {
      tail.setAtIndex(ValueLayout.JAVA_DOUBLE, index, value);
    } else {
      tail.setAtIndex(ValueLayout.JAVA_FLOAT, index, (float) value);
    }
  }

  private boolean isDouble() {
    return layout.precision() == Precision.FLOAT64;
  }

  @Override
  public void close() {
    TensorScope.free(lossSum);
    TensorScope.free(values);
    TensorScope.free(withTail);
  }
}
