package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;

/** Slices of an arena, in memory of their own. */
public final class KeptSlices implements AutoCloseable {

  private final List<Range> ranges;
  private final StateMemory memory;
  private final Map<Range, Tensor> slices = new LinkedHashMap<>();
  private boolean isUnderWay;

  /**
   * Allocates slices for these parts of a layout, filled with zeros.
   *
   * @param memory where they lie; closed with them
   */
  KeptSlices(Layout layout, StateMemory memory, List<Range> ranges) {
    this.ranges = List.copyOf(ranges);
    this.memory = memory;
    var lengths = ranges.stream().map(Range::length).toList();
    var zeros = memory.zeros(layout.precision(), lengths);
    for (int i = 0; i < zeros.size(); i++) {
      slices.put(ranges.get(i), zeros.get(i));
    }
  }

  /** Returns the parts of the arena that are kept, in its order. */
  public List<Range> ranges() {
    return ranges;
  }

  /** Returns what is kept, a tensor for each part. */
  public List<Tensor> slices() {
    return List.copyOf(slices.values());
  }

  /** Returns what is kept of a part that is kept as it is; nothing for an empty one. */
  public Optional<Tensor> of(Range range) {
    return Optional.ofNullable(slices.get(range));
  }

  /** Returns what is kept of a parameter; the views belong to the scope that is open. */
  public List<Tensor> inside(Slot slot) {
    List<Tensor> pieces = new ArrayList<>();
    slices.forEach(
        (range, slice) -> {
          var piece = slot.range().common(range);
          if (piece.length() > 0) {
            pieces.add(piece.of(slice, range.offset()));
          }
        });
    return pieces;
  }

  /** Takes what is kept of a section from it. */
  void takeFrom(Section section) {
    slices.forEach(
        (range, slice) -> {
          if (section.range().holds(range)) {
            slice.copy_(range.of(section.values(), section.range().offset()));
          }
        });
  }

  /**
   * Adds to what is kept of a part. What lies beside the device is brought there and back, which
   * goes on until {@link #settle}.
   *
   * @param range a part that is kept as it is
   * @param from where in it the summand begins
   */
  public void add(Range range, long from, Tensor summand) {
    of(range)
        .ifPresent(
            whole -> {
              var slice = whole.narrow(0, from, summand.numel());
              var here = ComputeDevice.of(summand).bring(slice);
              here.add_(summand);
              if (here.is_cuda() != slice.is_cuda()) {
                slice.copy_(here, true);
                isUnderWay = true;
              }
            });
  }

  /** Waits until all that was added has arrived. */
  public void settle() {
    if (isUnderWay) {
      memory.device().synchronize();
      isUnderWay = false;
    }
  }

  void clear() {
    slices.values().forEach(Tensor::zero_);
  }

  void remember(String name, State state) {
    slices.forEach((range, slice) -> state.slice(name, range.offset(), slice));
  }

  @Override
  public void close() {
    slices.values().forEach(TensorScope::free);
    memory.close();
  }
}
