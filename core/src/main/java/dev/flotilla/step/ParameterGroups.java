package dev.flotilla.step;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Layout;
import dev.flotilla.arena.Slot;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.GroupValues;
import dev.flotilla.optim.ParameterGroup;
import dev.flotilla.optim.ParameterGroup.Slice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** Divides parts of an arena into the groups an optimizer treats alike. */
final class ParameterGroups implements AutoCloseable {

  private final Layout layout;
  private final StateMemory memory;
  private final UpdateSettings settings;
  private final List<Slice> parts;
  private final List<Slice> slices = new ArrayList<>();
  private final List<ParameterGroup> groups = new ArrayList<>();

  /**
   * Builds the groups; neighbours of the same group share a slice.
   *
   * @param parts what is updated, in the order of the arena
   * @param memory where the optimizer keeps what it remembers
   */
  ParameterGroups(Layout layout, UpdateSettings settings, List<Slice> parts, StateMemory memory) {
    this.layout = layout;
    this.memory = memory;
    this.settings = settings;
    this.parts = parts;
    Map<Slot, GroupValues> values = new HashMap<>();
    layout.slots().forEach(slot -> values.put(slot, settings.valuesOf(slot.spec())));
    // Decayed ones first: checkpoints of earlier versions count groups in this order.
    layout.slots().stream()
        .map(values::get)
        .distinct()
        .sorted(Comparator.comparing(it -> it.weightDecay() == 0))
        .forEach(it -> addGroup(slot -> it.equals(values.get(slot)), it));
  }

  private void addGroup(Predicate<Slot> member, GroupValues values) {
    List<Slice> ofGroup = new ArrayList<>();
    var slots = layout.slots();
    var extents =
        slots.stream()
            .filter(member)
            .map(slot -> new ParameterGroup.Extent(slot.offset(), slot.length()))
            .toList();
    int first = 0;
    while (first < slots.size()) {
      int end = first;
      while (end < slots.size() && member.test(slots.get(end))) {
        end++;
      }
      if (end > first) {
        long from = slots.get(first).offset();
        addSlices(new Range(from, endOffset(slots, end) - from), ofGroup);
      }
      first = Math.max(end, first + 1);
    }
    if (!extents.isEmpty()) {
      groups.add(
          new ParameterGroup(ofGroup, extents, values, memory, () -> settings.isFrozen(values)));
    }
  }

  private long endOffset(List<Slot> slots, int end) {
    return end < slots.size() ? slots.get(end).offset() : layout.length();
  }

  private void addSlices(Range range, List<Slice> ofGroup) {
    for (var part : parts) {
      long first = part.offset();
      var piece = range.common(new Range(first, part.parameter().numel()));
      if (piece.length() > 0) {
        var slice =
            new Slice(
                TensorScope.keep(piece.of(part.parameter(), first)),
                TensorScope.keep(piece.of(part.gradient(), first)),
                piece.offset());
        slices.add(slice);
        ofGroup.add(slice);
      }
    }
  }

  List<ParameterGroup> groups() {
    return groups;
  }

  @Override
  public void close() {
    for (var slice : slices) {
      TensorScope.free(slice.parameter());
      TensorScope.free(slice.gradient());
    }
  }
}
