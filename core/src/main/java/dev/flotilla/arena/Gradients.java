package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.LateCopy;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.State;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * The flat gradient tensor, with the window's loss sum and count riding behind the last element.
 *
 * <p>{@code WindowTotals} says how these are written and read.
 */
public final class Gradients implements AutoCloseable {

  private final Layout layout;
  private final ComputeDevice device;
  private Memory memory;
  private @Nullable KeptSlices kept;
  private boolean isOverwritten;
  private boolean isStale;
  private @Nullable LateCopy late;

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

  /** The flat tensor and its views. */
  private record Memory(
      Tensor all,
      Tensor withTail,
      Tensor values,
      WindowTotals totals,
      @Nullable CheckedScale checkedScale) {

    static Memory of(Precision precision, long length, ComputeDevice device) {
      try (var _ = TensorScope.open()) {
        long elements = length + WindowTotals.ALL;
        var all = TensorScope.keep(device.zeros(precision.scalarType(), elements));
        var values = TensorScope.keep(all.narrow(0, 0, length));
        var totals = new WindowTotals(all, length, precision, device);
        return new Memory(
            all,
            TensorScope.keep(all.narrow(0, 0, length + WindowTotals.NUMBERS)),
            values,
            totals,
            precision == Precision.FLOAT32 ? checkedScale(all, values, totals) : null);
      }
    }

    private static CheckedScale checkedScale(Tensor all, Tensor values, WindowTotals totals) {
      var found = all.select(0, values.numel() + WindowTotals.FOUND);
      return new CheckedScale(values, totals.loss(), TensorScope.keep(found));
    }

    void close() {
      if (checkedScale != null) {
        checkedScale.close();
      }
      totals.close();
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
  }

  /** Returns the slices that are kept in place of the arena; empty where all of it is. */
  public Optional<KeptSlices> kept() {
    return Optional.ofNullable(kept);
  }

  /** Returns the gradients of all parameters, without the tail. */
  public Tensor values() {
    settle();
    return memory.values();
  }

  /**
   * Hears that the first gradients of a window are put in place of what is here, and not added to
   * it: clearing then leaves the numbers of the window before until somebody looks.
   */
  void overwrite() {
    isOverwritten = true;
  }

  /** Tells whether the numbers here are those of a window that is over, and stand for zeros. */
  public boolean isStale() {
    return isStale;
  }

  /** Says whether the numbers here stand for zeros, where nothing has come of replacing them. */
  public void stale(boolean value) {
    isStale = value;
  }

  /** Hears that all numbers have been replaced. */
  void replaced() {
    isStale = false;
  }

  /** Makes numbers that stand for zeros zeros, for whoever has kept a view of them. */
  public void settle() {
    if (isStale) {
      memory.values().zero_();
      isStale = false;
    }
  }

  /** Returns where each parameter's gradient lies. */
  public Layout layout() {
    return layout;
  }

  /** Returns a slice to exchange; the one that ends the arena takes the tail along. */
  public Tensor slice(Bucket bucket) {
    settle();
    boolean last = bucket.range().end() == layout.length();
    memory.totals().change();
    if (last) {
      memory.totals().writeCount();
    }
    int behind = last ? WindowTotals.NUMBERS : 0;
    return memory.withTail().narrow(0, bucket.offset(), bucket.length() + behind);
  }

  /** Returns a part of the gradients without the tail. */
  public Tensor part(Bucket bucket) {
    return values().narrow(0, bucket.offset(), bucket.length());
  }

  /** Returns loss sum and count, for an exchange that sends them apart from the gradients. */
  public Tensor tail() {
    memory.totals().change();
    memory.totals().writeCount();
    return exchangedTotals();
  }

  private Tensor exchangedTotals() {
    return memory.withTail().narrow(0, memory.values().numel(), WindowTotals.NUMBERS);
  }

  /** Adds the loss of one micro-step to the window's totals. */
  public void addLoss(Tensor sum, long terms) {
    memory.totals().add(sum, terms);
  }

  /** Starts adding the loss of a micro-step on the device; its terms are not counted. */
  public void addLossSum(Tensor sum) {
    memory.totals().addSum(sum);
  }

  /**
   * Counts a micro-step whose loss and gradients come into the arena by a recording: all numbers
   * are replaced or added to, as they were when it was made.
   */
  public void replayed(long terms) {
    memory.totals().count(terms);
    sealTotals();
    isStale = false;
  }

  /** Writes the count into the tail, before it is exchanged; on a device, when it is. */
  public void sealTotals() {
    memory.totals().seal();
  }

  /**
   * Lets the exchange of this window tell all ranks that this one has something to say.
   *
   * @param ranks how many there are: their fractions must not add up to a term
   */
  public void raise(int ranks) {
    memory.totals().raise(ranks);
  }

  /** Takes back what was raised; also after an exchange, whose numbers stay what they are. */
  public void lower() {
    memory.totals().lower();
  }

  /** Tells whether this rank has something to say. */
  public boolean isRaised() {
    return memory.totals().isRaised();
  }

  /** Tells, after an exchange, whether any rank has something to say. */
  public boolean isRaisedByAny() {
    return memory.totals().isRaisedByAny();
  }

  /** Reads the totals from the tail: this rank's before an exchange, all ranks' after it. */
  public Totals totals() {
    return memory.totals().read();
  }

  /** Reads the sum of the loss: this rank's before an exchange, all ranks' after it. */
  public double lossSum() {
    return memory.totals().lossSum();
  }

  /**
   * Returns this rank's totals before an exchange; on a device the loss is read when it is asked
   * for, which must be before the next micro-step.
   */
  public Totals ownTotals() {
    return memory.totals().readLater();
  }

  /** Multiplies all gradients. */
  public void scale(double by) {
    settle();
    if (memory.checkedScale() == null) {
      Tensors.scale(memory.values(), by);
    } else {
      memory.checkedScale().apply(by);
      memory.totals().searched();
    }
  }

  /** Brings each element to the nearest number of at most this absolute value. */
  public void limitEach(double most) {
    Tensors.limit(values(), most);
  }

  /** Returns the Euclidean norm of all gradients. */
  public double norm() {
    try (var norm = values().norm()) {
      return norm.item_double();
    }
  }

  /** Tells whether no gradient that this rank holds is infinite or undefined. */
  public boolean isFinite() {
    if (memory.checkedScale() != null && memory.checkedScale().isDone()) {
      return !memory.totals().isFound();
    }
    return isFinite(values());
  }

  /**
   * Tells whether no gradient of one parameter that this rank holds is infinite or undefined; after
   * {@link #endWindow} those of the window that has ended.
   */
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
      values().narrow(0, slot.offset(), slot.length()).zero_();
    }
  }

  /** Tells whether all gradients of one parameter are zero. */
  public boolean isZero(Slot slot) {
    try (var _ = TensorScope.open()) {
      var ends = values().narrow(0, slot.offset(), slot.length()).aminmax();
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

  /** Tells whether scaling looks for numbers that are not finite; it does with those of 32 bits. */
  public boolean searchesWhileScaling() {
    return memory.checkedScale() != null;
  }

  /**
   * Tells whether everything was looked at since the gradients were cleared, so that {@link #found}
   * says what was found.
   */
  public boolean isSearched() {
    return memory.checkedScale() != null && memory.checkedScale().isDone();
  }

  /** Returns a number beside the gradients: 1 if one of them, or the loss, is not finite. */
  public Tensor found() {
    return Objects.requireNonNull(memory.checkedScale()).found();
  }

  /**
   * Ends the window without waiting for what the device finds in it: loss and {@link #found} are
   * told later. Its gradients can be {@linkplain #isFinite(Slot) looked at} until the next ones
   * come.
   *
   * @param reader what reads {@link #found} before it is cleared
   */
  public LateNumbers endWindow(Runnable reader) {
    Objects.requireNonNull(memory.checkedScale()).checkLoss();
    if (late == null) {
      late = new LateCopy(memory.totals().numbers());
    }
    late.start();
    var numbers = new LateNumbers(late, memory.totals().count());
    reader.run();
    memory.totals().zero();
    isStale = true;
    cleared();
    return numbers;
  }

  /** Clears gradients and totals for the next window. */
  public void clear() {
    memory.totals().beforeClear();
    if (isOverwritten || isStale) {
      memory.totals().zero();
      isStale = true;
    } else {
      memory.all().zero_();
    }
    if (kept != null) {
      kept.clear();
    }
    cleared();
  }

  private void cleared() {
    memory.totals().cleared();
    if (memory.checkedScale() != null) {
      memory.checkedScale().cleared();
    }
  }

  /** Puts down, or takes up, the sums of a window that has not ended. */
  public void remember(State summed) {
    settle();
    memory.totals().writeCount();
    if (summed.has("tail")) {
      if (kept == null) {
        summed.tensor("gradients", memory.values());
      } else {
        kept.remember("gradients", summed);
      }
      try (var numbersBehind = exchangedTotals()) {
        summed.tensor("tail", numbersBehind);
      }
    } else { // Earlier versions saved both as one.
      summed.tensor("gradients", memory.withTail());
    }
    memory.totals().remember(summed);
  }

  @Override
  public void close() {
    if (late != null) {
      late.close();
    }
    memory.close();
    if (kept != null) {
      kept.close();
    }
  }
}
