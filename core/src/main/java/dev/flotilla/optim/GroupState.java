package dev.flotilla.optim;

import dev.flotilla.memory.Operator;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.Tensor;

/**
 * A parameter group packed for fused operators, with the state tensors an optimizer keeps for it.
 */
final class GroupState implements AutoCloseable {

  static void rememberAll(List<GroupState> groups, State state) {
    for (int i = 0; i < groups.size(); i++) {
      groups.get(i).remember(state.part("group-" + i));
    }
  }

  private final IValue parameters;
  private final IValue gradients;
  private final List<IValue> states = new ArrayList<>();
  private final List<Tensor> tensors = new ArrayList<>();
  private final double weightDecay;

  /** Allocates as many zero tensors per slice as the rule remembers. */
  GroupState(ParameterGroup group, int statesPerSlice) {
    parameters = Operator.list(group.parameters());
    gradients = Operator.list(group.gradients());
    weightDecay = group.weightDecay();
    for (int i = 0; i < statesPerSlice; i++) {
      states.add(Operator.list(zerosLike(group.parameters())));
    }
  }

  /** Works on a state that somebody else keeps. */
  GroupState(ParameterGroup group, List<Tensor> state) {
    parameters = Operator.list(group.parameters());
    gradients = Operator.list(group.gradients());
    weightDecay = group.weightDecay();
    states.add(Operator.list(state));
  }

  private List<Tensor> zerosLike(List<Tensor> like) {
    try (var _ = TensorScope.open()) {
      var zeros = like.stream().map(t -> TensorScope.keep(t.new_zeros(t.shape()))).toList();
      tensors.addAll(zeros);
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

  void remember(State state) {
    for (int i = 0; i < tensors.size(); i++) {
      state.tensor(Integer.toString(i), tensors.get(i));
    }
  }

  @Override
  public void close() {
    TensorScope.free(parameters);
    TensorScope.free(gradients);
    states.forEach(TensorScope::free);
    tensors.forEach(TensorScope::free);
  }
}
