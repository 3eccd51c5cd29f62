package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;

/** Slices of an arena, one behind the other in memory of their own. */
public final class KeptSlices implements AutoCloseable {

  private final List<Range> ranges;
  private final Tensor all;
  private final List<Tensor> slices = new ArrayList<>();

  /** Allocates slices for these parts of a layout, filled with zeros. */
  KeptSlices(Layout layout, ComputeDevice device, List<Range> ranges) {
    this.ranges = List.copyOf(ranges);
    long elements = ranges.stream().mapToLong(Range::length).sum();
    try (var _ = TensorScope.open()) {
      all = TensorScope.keep(device.zeros(layout.precision().scalarType(), elements));
      long at = 0;
      for (var range : ranges) {
        slices.add(TensorScope.keep(all.narrow(0, at, range.length())));
        at += range.length();
      }
    }
  }

  /** Returns the parts of the arena that are kept, in its order. */
  public List<Range> ranges() {
    return ranges;
  }

  /** Returns what is kept, a tensor for each part. */
  public List<Tensor> slices() {
    return List.copyOf(slices);
  }

  /** Returns what is kept of a part that is kept as it is; nothing for an empty one. */
  public Optional<Tensor> of(Range range) {
    int index = ranges.indexOf(range);
    return index < 0 ? Optional.empty() : Optional.of(slices.get(index));
  }

  /** Returns what is kept of a parameter; the views belong to the scope that is open. */
  public List<Tensor> inside(Slot slot) {
    List<Tensor> pieces = new ArrayList<>();
    for (int i = 0; i < ranges.size(); i++) {
      var piece = slot.range().common(ranges.get(i));
      if (piece.length() > 0) {
        pieces.add(piece.of(slices.get(i), ranges.get(i).offset()));
      }
    }
    return pieces;
  }

  void clear() {
    all.zero_();
  }

  void remember(String name, State state) {
    for (int i = 0; i < ranges.size(); i++) {
      state.slice(name, ranges.get(i).offset(), slices.get(i));
    }
  }

  @Override
  public void close() {
    slices.forEach(TensorScope::free);
    TensorScope.free(all);
  }
}
