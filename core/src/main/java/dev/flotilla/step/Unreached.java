package dev.flotilla.step;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Slot;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.bytedeco.pytorch.Tensor;

/**
 * Parameters that no rank's backward has reached: updates leave them as they are, as PyTorch does
 * where a gradient is None.
 *
 * <p>Their gradients are zero, and so is what an optimizer remembers of them; only weight decay
 * would move them. So their values are zero too while an update is made, which every rule leaves
 * alone, and are put back after it. Ranks agree on them once, in the first window; a parameter for
 * which a gradient comes later is one like the others from then on.
 */
final class Unreached implements Stateful, AutoCloseable {

  private final ParameterArena arena;
  private final Collective peers;
  private final List<Slot> decayed;
  private final Map<Slot, List<Tensor>> aside = new LinkedHashMap<>();
  private List<Slot> slots = List.of();
  private boolean isSettled;

  /**
   * Watches an arena.
   *
   * @param peers the ranks that hold the same gradients after an exchange
   */
  Unreached(ParameterArena arena, UpdateSettings settings, Collective peers) {
    this.arena = arena;
    this.peers = peers;
    decayed =
        arena.layout().slots().stream().filter(slot -> settings.decayOf(slot.spec()) != 0).toList();
  }

  /** Agrees on the parameters, once; all ranks that share gradients call it together. */
  void settle() {
    if (isSettled) {
      return;
    }
    isSettled = true;
    if (!decayed.isEmpty()) {
      slots = reachedByNobody();
    }
  }

  /** Tells whether updates may change all parameters. */
  boolean areNone() {
    return slots.isEmpty();
  }

  private List<Slot> reachedByNobody() {
    try (var _ = TensorScope.open()) {
      var reached =
          Tensors.ofLongs(
              decayed.stream().mapToLong(slot -> arena.leaves().isReached(slot) ? 1 : 0).toArray());
      peers.allReduce(reached, Reduction.MAX, Traffic.SCALAR).await();
      var flags = NativeView.of(reached);
      List<Slot> left = new ArrayList<>();
      for (int i = 0; i < decayed.size(); i++) {
        if (flags.getAtIndex(ValueLayout.JAVA_LONG, i) == 0) {
          left.add(decayed.get(i));
        }
      }
      return left;
    }
  }

  /** Puts zeros in place of the parameters, after backward; nothing if it is done already. */
  void setAside() {
    if (!aside.isEmpty() || slots.isEmpty()) {
      return;
    }
    try (var _ = TensorScope.open()) {
      for (var slot : slots) {
        List<Tensor> copies = new ArrayList<>();
        for (var values : arena.updatedValues(slot)) {
          copies.add(TensorScope.keep(values.clone()));
          values.zero_();
        }
        aside.put(slot, copies);
      }
    }
  }

  /** Puts back those that have got a gradient by now, for good. */
  void returnReached(GradientView gradients) {
    if (aside.isEmpty()) {
      return;
    }
    slots = slots.stream().filter(gradients::isZero).toList();
    for (var slot : List.copyOf(aside.keySet())) {
      if (!slots.contains(slot)) {
        putBack(slot);
      }
    }
  }

  /** Puts back all that is aside. */
  void putBack() {
    if (!aside.isEmpty()) {
      List.copyOf(aside.keySet()).forEach(this::putBack);
    }
  }

  private void putBack(Slot slot) {
    var copies = aside.remove(slot);
    if (copies != null) {
      try (var _ = TensorScope.open()) {
        var places = arena.updatedValues(slot);
        for (int i = 0; i < copies.size(); i++) {
          places.get(i).copy_(copies.get(i));
        }
      }
      copies.forEach(TensorScope::free);
    }
  }

  @Override
  public void remember(RunState state) {
    var shared = state.shared().part("unreached");
    if (!shared.has("settled")) {
      return;
    }
    isSettled = shared.number("settled", isSettled ? 1 : 0) == 1;
    var names =
        shared.text(
            "names",
            slots.stream().map(slot -> slot.spec().name()).collect(Collectors.joining("\n")));
    var wanted = new HashSet<>(names.lines().toList());
    slots = decayed.stream().filter(slot -> wanted.contains(slot.spec().name())).toList();
  }

  @Override
  public void close() {
    aside.values().forEach(copies -> copies.forEach(TensorScope::free));
    aside.clear();
  }
}
