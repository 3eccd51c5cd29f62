package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.StateMemory;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.ParameterGroup.Slice;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * A parameter group packed for fused operators, with the state tensors an optimizer keeps for it.
 */
final class GroupState implements AutoCloseable {

  /** Said by what is named by place; earlier versions counted groups and tensors instead. */
  private static final String CUT = "cut";

  /**
   * Puts down, or takes up, what a rule keeps for all groups, named by kind and place in the arena,
   * so that another grouping or cut finds it too.
   *
   * @param kinds tensors that the rule keeps for each slice
   */
  static void rememberAll(List<GroupState> groups, int kinds, State state) {
    if (!state.has(CUT)) {
      takeUpByNumber(groups, state);
      return;
    }
    state.text(CUT, "by place in the arena");
    for (var group : groups) {
      group.remember(state);
    }
    if (groups.stream().allMatch(group -> group.slices.isEmpty())) {
      rememberNothing(kinds, state);
    }
  }

  /** A rank without any slice knows what others hold slices of. */
  private static void rememberNothing(int kinds, State state) {
    try (var _ = TensorScope.open()) {
      var empty = ComputeDevice.CPU.zeros(torch.ScalarType.Float, 0);
      for (int kind = 0; kind < kinds; kind++) {
        state.slice(Integer.toString(kind), 0, empty);
      }
    }
  }

  private static void takeUpByNumber(List<GroupState> groups, State state) {
    for (int i = 0; i < groups.size(); i++) {
      var group = state.part("group-" + i);
      int number = 0;
      for (var kind : groups.get(i).tensors) {
        for (var tensor : kind) {
          group.tensor(Integer.toString(number++), tensor);
        }
      }
    }
  }

  private final StateMemory memory;
  private final List<Slice> slices;
  // For each kind, a tensor per slice; somebody else's are not remembered here.
  private final List<List<Tensor>> tensors;
  private final boolean isOwned;
  private final GroupValues values;
  private final BooleanSupplier isFrozen;
  private final List<Integer> away = new ArrayList<>();
  private @Nullable Packed here;

  /** Allocates as many zero tensors per slice as the rule remembers. */
  GroupState(ParameterGroup group, int statesPerSlice) {
    this(group, zeros(group, statesPerSlice), true);
  }

  /** Works on a state that somebody else keeps. */
  GroupState(ParameterGroup group, List<Tensor> state) {
    this(group, List.of(state), false);
  }

  private GroupState(ParameterGroup group, List<List<Tensor>> tensors, boolean isOwned) {
    memory = group.memory();
    slices = group.slices();
    values = group.values();
    isFrozen = group.isFrozen();
    this.tensors = new ArrayList<>(tensors);
    this.isOwned = isOwned;
  }

  private static List<List<Tensor>> zeros(ParameterGroup group, int kinds) {
    List<List<Tensor>> zeros = new ArrayList<>();
    if (!group.slices().isEmpty()) {
      var precision = Precision.of(group.slices().getFirst().parameter());
      var lengths = group.slices().stream().map(slice -> slice.parameter().numel()).toList();
      for (int i = 0; i < kinds; i++) {
        zeros.add(group.memory().zeros(precision, lengths));
      }
    }
    return zeros;
  }

  /**
   * Lets a rule update all slices: at once those that are on the device, and one after the other
   * those of which something has to be brought there first, and back; none while the group is
   * frozen.
   */
  void update(Consumer<Packed> rule) {
    if (isFrozen()) {
      return;
    }
    var present = here == null ? settle() : here;
    if (present.count() > 0) {
      rule.accept(present);
    }
    for (int slice : away) {
      updateAway(slice, rule);
    }
    if (!away.isEmpty()) {
      // Copies to the host are only under way.
      memory.device().synchronize();
    }
  }

  private Packed settle() {
    if (isOwned) {
      tensors.replaceAll(kind -> kind.stream().map(memory::settle).toList());
    }
    List<Integer> present = new ArrayList<>();
    for (int i = 0; i < slices.size(); i++) {
      var _ = isHere(i) ? present.add(i) : away.add(i);
    }
    here =
        Packed.of(
            present.stream().map(slices::get).toList(),
            tensors.stream().map(kind -> present.stream().map(kind::get).toList()).toList());
    return here;
  }

  private boolean isHere(int slice) {
    boolean isDevice = memory.device().isCuda();
    return slices.get(slice).parameter().is_cuda() == isDevice
        && slices.get(slice).gradient().is_cuda() == isDevice
        && tensors.stream().allMatch(kind -> kind.get(slice).is_cuda() == isDevice);
  }

  private void updateAway(int index, Consumer<Packed> rule) {
    var slice = slices.get(index);
    try (var _ = TensorScope.open()) {
      var changed = new ArrayList<Tensor>(List.of(slice.parameter()));
      tensors.forEach(kind -> changed.add(kind.get(index)));
      var copies = changed.stream().map(memory.device()::bring).toList();
      try (var packed =
          Packed.of(
              List.of(
                  new Slice(
                      copies.getFirst(), memory.device().bring(slice.gradient()), slice.offset())),
              copies.subList(1, copies.size()).stream().map(List::of).toList())) {
        rule.accept(packed);
      }
      for (int i = 0; i < copies.size(); i++) {
        if (copies.get(i).is_cuda() != changed.get(i).is_cuda()) {
          changed.get(i).copy_(copies.get(i), true);
        }
      }
    }
  }

  boolean isFrozen() {
    return isFrozen.getAsBoolean();
  }

  GroupValues values() {
    return values;
  }

  double lr(double ofOptimizer) {
    return ofOptimizer * values.lrFactor();
  }

  private void remember(State state) {
    for (int kind = 0; kind < tensors.size(); kind++) {
      var ofKind = tensors.get(kind);
      for (int i = 0; i < ofKind.size(); i++) {
        state.slice(Integer.toString(kind), slices.get(i).offset(), ofKind.get(i));
      }
    }
  }

  @Override
  public void close() {
    if (here != null) {
      here.close();
    }
    if (isOwned) {
      tensors.forEach(kind -> kind.forEach(TensorScope::free));
    }
  }
}
