package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Operator;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Adam and AdamW over arena slices: they differ only in the operator. */
final class AdamRule implements Optimizer.Bound {

  private final Operator fused;
  private final List<Double> betas;
  private final double eps;
  private final boolean amsgrad;
  private final int kinds;
  private final List<GroupState> groups;
  private final Map<Count, IValue> stepLists = new HashMap<>();
  private final UpdateNumbers steps;
  private final IValue noMaxima = Operator.list(List.of());

  /**
   * Allocates both moments.
   *
   * @param amsgrad whether the largest second moment so far is kept, and used in its place
   */
  AdamRule(
      String operator,
      List<Double> betas,
      double eps,
      boolean amsgrad,
      List<ParameterGroup> groups) {
    this.fused = new Operator(operator);
    this.betas = betas;
    this.eps = eps;
    this.amsgrad = amsgrad;
    this.kinds = amsgrad ? 3 : 2;
    this.groups = groups.stream().map(group -> new GroupState(group, kinds)).toList();
    steps = new UpdateNumbers(this.groups, deviceOf(groups), torch.ScalarType.Float);
  }

  /** The operator wants its count once for every slice. */
  private IValue steps(GroupValues values, int slices) {
    return stepLists.computeIfAbsent(
        new Count(values.frozenEpochs(), slices),
        count -> Operator.list(Collections.nCopies(count.slices, steps.of(values))));
  }

  private record Count(int frozenEpochs, int slices) {}

  /** The operator wants its count beside the parameters. */
  private static ComputeDevice deviceOf(List<ParameterGroup> groups) {
    return groups.isEmpty() ? ComputeDevice.CPU : groups.getFirst().memory().device();
  }

  @Override
  public void update(double lr) {
    update(lr, Operator.Absent.NONE);
  }

  @Override
  public boolean skipsOnDevice() {
    return true;
  }

  @Override
  public void updateUnless(Tensor found, double lr) {
    update(lr, found);
    steps.takeBackIf(found);
  }

  private void update(double lr, Object found) {
    steps.next();
    for (var group : groups) {
      group.update(slices -> update(slices, group.values(), group.lr(lr), found));
    }
  }

  private void update(Packed slices, GroupValues values, double lr, Object found) {
    fused.call(
        slices.parameters(),
        slices.gradients(),
        slices.state(0),
        slices.state(1),
        amsgrad ? slices.state(2) : noMaxima,
        steps(values, slices.count()),
        lr,
        values.betasOr(betas).get(0),
        values.betasOr(betas).get(1),
        values.weightDecay(),
        eps,
        amsgrad,
        false,
        Operator.Absent.NONE,
        found);
  }

  @Override
  public void remember(State state) {
    steps.remember(state);
    GroupState.rememberAll(groups, kinds, state.part("moments"));
  }

  @Override
  public void close() {
    groups.forEach(GroupState::close);
    stepLists.values().forEach(TensorScope::free);
    TensorScope.free(noMaxima);
    steps.close();
    fused.close();
  }
}
