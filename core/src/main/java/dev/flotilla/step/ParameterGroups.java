package dev.flotilla.step;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Slot;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.ParameterGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Divides an arena into the groups an optimizer treats alike: decayed and not decayed. */
final class ParameterGroups implements AutoCloseable {

  private final ParameterArena arena;
  private final List<ParameterGroup.Slice> slices = new ArrayList<>();
  private final List<ParameterGroup> groups = new ArrayList<>();

  /**
   * Builds the groups; neighbours of the same group share a slice.
   *
   * @param noDecay names that are not decayed, or null for the optimizer's own rule
   */
  ParameterGroups(ParameterArena arena, Optimizer optimizer, @Nullable Predicate<String> noDecay) {
    this.arena = arena;
    var settings = new UpdateSettings(optimizer, noDecay);
    Predicate<Slot> decays =
        slot -> optimizer.weightDecay() == 0 || settings.isDecayed(slot.spec());
    addGroup(decays, optimizer.weightDecay());
    addGroup(decays.negate(), 0);
  }

  private void addGroup(Predicate<Slot> member, double weightDecay) {
    List<ParameterGroup.Slice> ofGroup = new ArrayList<>();
    var slots = arena.layout().slots();
    int first = 0;
    while (first < slots.size()) {
      int end = first;
      while (end < slots.size() && member.test(slots.get(end))) {
        end++;
      }
      if (end > first) {
        ofGroup.add(slice(slots.get(first).offset(), endOffset(slots, end)));
      }
      first = Math.max(end, first + 1);
    }
    if (!ofGroup.isEmpty()) {
      groups.add(new ParameterGroup(ofGroup, weightDecay));
    }
  }

  private long endOffset(List<Slot> slots, int end) {
    return end < slots.size() ? slots.get(end).offset() : arena.layout().length();
  }

  private ParameterGroup.Slice slice(long from, long to) {
    var slice =
        new ParameterGroup.Slice(
            TensorScope.keep(arena.values().narrow(0, from, to - from)),
            TensorScope.keep(arena.gradients().values().narrow(0, from, to - from)),
            from);
    slices.add(slice);
    return slice;
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
