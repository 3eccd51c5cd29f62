package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Operator;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Adam and AdamW over arena slices: they differ only in the operator. */
final class AdamRule implements Optimizer.Bound {

  private final Operator fused;
  private final List<Double> betas;
  private final double eps;
  private final List<GroupState> groups;
  private final List<IValue> stepLists = new ArrayList<>();
  private final Tensor step;
  private final IValue noMaxima = Operator.list(List.of());

  AdamRule(String operator, List<Double> betas, double eps, List<ParameterGroup> groups) {
    this.fused = new Operator(operator);
    this.betas = betas;
    this.eps = eps;
    this.groups = groups.stream().map(group -> new GroupState(group, 2)).toList();
    try (var _ = TensorScope.open()) {
      step = TensorScope.keep(deviceOf(groups).zeros(torch.ScalarType.Float));
    }
    for (var group : groups) {
      stepLists.add(Operator.list(java.util.Collections.nCopies(group.slices().size(), step)));
    }
  }

  /** The operator wants its count beside the parameters. */
  private static ComputeDevice deviceOf(List<ParameterGroup> groups) {
    return groups.isEmpty()
        ? ComputeDevice.CPU
        : ComputeDevice.of(groups.getFirst().slices().getFirst().parameter());
  }

  @Override
  public void update(double lr) {
    try (var one = new Scalar(1.0)) {
      step.add_(one);
    }
    for (int i = 0; i < groups.size(); i++) {
      updateGroup(groups.get(i), stepLists.get(i), lr);
    }
  }

  private void updateGroup(GroupState group, IValue steps, double lr) {
    fused.call(
        group.parameters(),
        group.gradients(),
        group.state(0),
        group.state(1),
        noMaxima,
        steps,
        lr,
        betas.get(0),
        betas.get(1),
        group.weightDecay(),
        eps,
        false,
        false,
        Operator.Absent.NONE,
        Operator.Absent.NONE);
  }

  @Override
  public void remember(State state) {
    state.tensor("step", step);
    GroupState.rememberAll(groups, 2, state.part("moments"));
  }

  @Override
  public void close() {
    groups.forEach(GroupState::close);
    stepLists.forEach(TensorScope::free);
    TensorScope.free(noMaxima);
    TensorScope.free(step);
    fused.close();
  }
}
