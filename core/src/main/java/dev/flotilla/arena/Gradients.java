package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.State;
import java.util.List;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The flat gradient tensor, with the window's loss sum and count riding behind the last element.
 *
 * <p>The count is stored as two numbers, high and low, so that float32 holds it exactly after a sum
 * over up to 4,096 ranks, up to 2^36 terms in all. A rank that has something to say to all of them
 * {@linkplain #raise adds a fraction} to the high one: so ranks hear of it with the sum that they
 * make anyway, and no sum changes while nobody speaks.
 *
 * <p>On a device another number follows, which is not exchanged: whether a gradient was found that
 * is not finite. What is read is read at once, so that an update waits for the device one time.
 */
public final class Gradients implements AutoCloseable {

  private static final int TAIL = 3;
  private static final int FOUND = 3;
  private static final long COUNT_BASE = 1 << 12;
  private static final long UNKNOWN = -1;

  private final Layout layout;
  private final ComputeDevice device;
  private Memory memory;
  private @Nullable KeptSlices kept;
  private @Nullable LaterLoss waiting;
  private long count;
  private double fraction;
  private double sealedHigh;
  private boolean isCountWritten = true;
  private long changes;

  Gradients(Layout layout) {
    this(layout, ComputeDevice.CPU, layout.length());
  }

  /**
   * Allocates gradients.
   *
   * @param length the layout's, or 0 where slices will be kept instead
   */
  Gradients(Layout layout, ComputeDevice device, long length) {
    this.layout = layout;
    this.device = device;
    memory = Memory.of(layout.precision(), length, device);
  }

  /**
   * The flat tensor and its views.
   *
   * @param numbers loss, count and finding where they lie on a device
   */
  private record Memory(
      Tensor all,
      Tensor withTail,
      Tensor values,
      Tensor lossSum,
      @Nullable Tensor numbers,
      Tail tail,
      @Nullable CheckedScale checkedScale) {

    static Memory of(Precision precision, long length, ComputeDevice device) {
      boolean hasOwn = device.isCuda();
      try (var _ = TensorScope.open()) {
        long own = hasOwn ? 1 : 0;
        var all = TensorScope.keep(device.zeros(precision.scalarType(), length + TAIL + own));
        var values = TensorScope.keep(all.narrow(0, 0, length));
        var numbers = hasOwn ? TensorScope.keep(all.narrow(0, length, TAIL + 1)) : null;
        return new Memory(
            all,
            TensorScope.keep(all.narrow(0, 0, length + TAIL)),
            values,
            TensorScope.keep(all.narrow(0, length, 1)),
            numbers,
            numbers == null
                ? new HostTail(NativeView.of(all).asSlice(length * precision.bytes()), precision)
                : new DeviceTail(numbers),
            hasOwn && precision == Precision.FLOAT32
                ? new CheckedScale(values, TensorScope.keep(all.narrow(0, length + FOUND, 1)))
                : null);
      }
    }

    void close() {
      tail.close();
      if (checkedScale != null) {
        checkedScale.close();
      }
      TensorScope.free(numbers);
      TensorScope.free(lossSum);
      TensorScope.free(values);
      TensorScope.free(withTail);
      TensorScope.free(all);
    }
  }

  /**
   * Gives the arena up for slices of it: gradients of parameters are tensors of their own from now
   * on, until whoever reduces them adds the sums to the slices.
   */
  void keepOnly(List<Range> ranges, StateMemory slices) {
    memory.close();
    memory = Memory.of(layout.precision(), 0, device);
    kept = new KeptSlices(layout, slices, ranges);
    change();
  }

  /** Returns the slices that are kept in place of the arena; empty where all of it is. */
  public Optional<KeptSlices> kept() {
    return Optional.ofNullable(kept);
  }

  /** Returns the gradients of all parameters, without the tail. */
  public Tensor values() {
    return memory.values();
  }

  /** Returns where each parameter's gradient lies. */
  public Layout layout() {
    return layout;
  }

  /** Returns a slice to exchange; the one that ends the arena takes the tail along. */
  public Tensor slice(Bucket bucket) {
    boolean last = bucket.range().end() == layout.length();
    change();
    if (last) {
      writeCount();
    }
    return memory.withTail().narrow(0, bucket.offset(), bucket.length() + (last ? TAIL : 0));
  }

  private void change() {
    changes++;
    memory.tail().changed();
  }

  /** Returns a part of the gradients without the tail. */
  public Tensor part(Bucket bucket) {
    return memory.values().narrow(0, bucket.offset(), bucket.length());
  }

  /** Returns loss sum and count, for an exchange that sends them apart from the gradients. */
  public Tensor tail() {
    change();
    writeCount();
    return memory.withTail().narrow(0, memory.values().numel(), TAIL);
  }

  /** Adds the loss of one micro-step to the window's totals. */
  public void addLoss(Tensor sum, long terms) {
    try (var detached = sum.detach()) {
      memory.lossSum().add_(detached);
    }
    count += terms;
    change();
  }

  /** Writes the count into the tail, before it is exchanged; on a device, when it is. */
  public void sealTotals() {
    isCountWritten = false;
    if (memory.numbers() == null) {
      writeCount();
    }
  }

  private void writeCount() {
    if (isCountWritten) {
      return;
    }
    isCountWritten = true;
    double high = Math.floorDiv(count, COUNT_BASE) + fraction;
    if (high != sealedHigh) {
      memory.tail().set(1, high);
      sealedHigh = high;
    }
    memory.tail().set(2, (double) Math.floorMod(count, COUNT_BASE));
  }

  /**
   * Lets the exchange of this window tell all ranks that this one has something to say.
   *
   * @param ranks how many there are: their fractions must not add up to a term
   */
  public void raise(int ranks) {
    fraction = 0.5 / Integer.highestOneBit(ranks);
    isCountWritten = false;
  }

  /** Takes back what was raised; also after an exchange, whose numbers stay what they are. */
  public void lower() {
    fraction = 0;
  }

  /** Tells whether this rank has something to say. */
  public boolean isRaised() {
    return fraction > 0;
  }

  /** Tells, after an exchange, whether any rank has something to say. */
  public boolean isRaisedByAny() {
    double high = memory.tail().get(1);
    return high != Math.floor(high);
  }

  /** Reads the totals from the tail: this rank's before an exchange, all ranks' after it. */
  public Totals totals() {
    writeCount();
    long terms = ((long) memory.tail().get(1)) * COUNT_BASE + (long) memory.tail().get(2);
    return new Totals(memory.tail().get(0), terms);
  }

  /** Reads the sum of the loss: this rank's before an exchange, all ranks' after it. */
  public double lossSum() {
    return memory.tail().get(0);
  }

  /**
   * Returns this rank's totals before an exchange; on a device the loss is read when it is asked
   * for, which must be before the next micro-step.
   */
  public Totals ownTotals() {
    return memory.numbers() == null ? totals() : new Totals(new LaterLoss(), count);
  }

  /** Reads the loss sum once it is asked for. */
  private final class LaterLoss implements java.util.function.DoubleSupplier {

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
        read();
      }
      return value;
    }

    void read() {
      value = memory.tail().get(0);
      isRead = true;
    }
  }

  /** Multiplies all gradients. */
  public void scale(double by) {
    if (memory.checkedScale() == null) {
      Tensors.scale(memory.values(), by);
    } else {
      memory.checkedScale().apply(by);
      memory.tail().changed();
    }
  }

  /** Brings each element to the nearest number of at most this absolute value. */
  public void limitEach(double most) {
    Tensors.limit(memory.values(), most);
  }

  /** Returns the Euclidean norm of all gradients. */
  public double norm() {
    try (var norm = memory.values().norm()) {
      return norm.item_double();
    }
  }

  /** Tells whether no gradient that this rank holds is infinite or undefined. */
  public boolean isFinite() {
    if (memory.checkedScale() != null && memory.checkedScale().isDone()) {
      return memory.tail().get(FOUND) == 0;
    }
    return isFinite(memory.values());
  }

  /** Tells whether no gradient of one parameter that this rank holds is infinite or undefined. */
  public boolean isFinite(Slot slot) {
    try (var _ = TensorScope.open()) {
      return kept == null
          ? isFinite(memory.values().narrow(0, slot.offset(), slot.length()))
          : kept.inside(slot).stream().allMatch(Gradients::isFinite);
    }
  }

  /** Makes all gradients of one parameter zero. */
  public void clear(Slot slot) {
    try (var _ = TensorScope.open()) {
      memory.values().narrow(0, slot.offset(), slot.length()).zero_();
    }
  }

  /** Tells whether all gradients of one parameter are zero. */
  public boolean isZero(Slot slot) {
    try (var _ = TensorScope.open()) {
      var ends = memory.values().narrow(0, slot.offset(), slot.length()).aminmax();
      return ends.get0().item_double() == 0 && ends.get1().item_double() == 0;
    }
  }

  /** Tells whether no number of a tensor that is not empty is infinite or undefined. */
  public static boolean isFinite(Tensor part) {
    try (var _ = TensorScope.open()) {
      // Both ends are NaN if any element is.
      var ends = part.aminmax();
      return Double.isFinite(ends.get0().item_double())
          && Double.isFinite(ends.get1().item_double());
    }
  }

  /** Clears gradients and totals for the next window. */
  public void clear() {
    if (waiting != null && waiting.asOf == changes) {
      waiting.getAsDouble();
    }
    memory.all().zero_();
    if (kept != null) {
      kept.clear();
    }
    count = 0;
    sealedHigh = 0;
    isCountWritten = fraction == 0;
    change();
    if (memory.checkedScale() != null) {
      memory.checkedScale().cleared();
    }
  }

  /** Puts down, or takes up, the sums of a window that has not ended. */
  public void remember(State summed) {
    writeCount();
    if (summed.has("tail")) {
      if (kept == null) {
        summed.tensor("gradients", memory.values());
      } else {
        kept.remember("gradients", summed);
      }
      try (var numbersBehind = memory.withTail().narrow(0, memory.values().numel(), TAIL)) {
        summed.tensor("tail", numbersBehind);
      }
    } else { // Earlier versions saved both as one.
      summed.tensor("gradients", memory.withTail());
    }
    count = summed.number("count", count);
    // A sum of tails has no carry: what was written on other ranks is not how this count is split.
    sealedHigh = UNKNOWN;
    isCountWritten = false;
    writeCount();
    change();
  }

  @Override
  public void close() {
    memory.close();
    if (kept != null) {
      kept.close();
    }
  }
}
