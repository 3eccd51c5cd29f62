package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Operator;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

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
    if (groups.stream().allMatch(group -> group.offsets.isEmpty())) {
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

  private final IValue parameters;
  private final IValue gradients;
  private final List<IValue> states = new ArrayList<>();
  private final List<List<Tensor>> tensors = new ArrayList<>();
  private final List<Long> offsets;
  private final double weightDecay;

  /** Allocates as many zero tensors per slice as the rule remembers. */
  GroupState(ParameterGroup group, int statesPerSlice) {
    parameters = Operator.list(group.parameters());
    gradients = Operator.list(group.gradients());
    offsets = group.slices().stream().map(ParameterGroup.Slice::offset).toList();
    weightDecay = group.weightDecay();
    for (int i = 0; i < statesPerSlice; i++) {
      states.add(Operator.list(zerosLike(group.parameters())));
    }
  }

  /** Works on a state that somebody else keeps. */
  GroupState(ParameterGroup group, List<Tensor> state) {
    parameters = Operator.list(group.parameters());
    gradients = Operator.list(group.gradients());
    offsets = group.slices().stream().map(ParameterGroup.Slice::offset).toList();
    weightDecay = group.weightDecay();
    states.add(Operator.list(state));
  }

  private List<Tensor> zerosLike(List<Tensor> like) {
    try (var _ = TensorScope.open()) {
      var zeros = like.stream().map(t -> TensorScope.keep(t.new_zeros(t.shape()))).toList();
      tensors.add(zeros);
      return zeros;
    }
  }

  IValue parameters() {
    return parameters;
  }

  IValue gradients() {
    return gradients;
  }

  IValue state(int index) {
    return states.get(index);
  }

  double weightDecay() {
    return weightDecay;
  }

  private void remember(State state) {
    for (int kind = 0; kind < tensors.size(); kind++) {
      var ofKind = tensors.get(kind);
      for (int i = 0; i < ofKind.size(); i++) {
        state.slice(Integer.toString(kind), offsets.get(i), ofKind.get(i));
      }
    }
  }

  @Override
  public void close() {
    TensorScope.free(parameters);
    TensorScope.free(gradients);
    states.forEach(TensorScope::free);
    tensors.forEach(kind -> kind.forEach(TensorScope::free));
  }
}
