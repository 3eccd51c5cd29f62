package dev.flotilla.arena;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
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

  /** Returns what is kept of a parameter; the views belong to the scope that is open. */
  public List<Tensor> inside(Slot slot) {
    List<Tensor> pieces = new ArrayList<>();
    for (int i = 0; i < ranges.size(); i++) {
      var range = ranges.get(i);
      long from = Math.max(slot.offset(), range.offset());
      long to = Math.min(slot.offset() + slot.length(), range.end());
      if (from < to) {
        pieces.add(slices.get(i).narrow(0, from - range.offset(), to - from));
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
