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
import org.jspecify.annotations.Nullable;

/** Adam and AdamW over arena slices: they differ only in weight decay. */
final class AdamRule implements Optimizer.Bound {

  private final Operator fused;
  private final AdamKernel kernel;
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
   * @param isDecoupled whether weight decay is AdamW's
   * @param amsgrad whether the largest second moment so far is kept, and used in its place
   */
  AdamRule(
      boolean isDecoupled,
      List<Double> betas,
      double eps,
      boolean amsgrad,
      List<ParameterGroup> groups) {
    this.fused = new Operator(isDecoupled ? "aten::_fused_adamw_" : "aten::_fused_adam_");
    this.kernel = new AdamKernel(isDecoupled);
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
    update(lr, null);
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

  private void update(double lr, @Nullable Tensor found) {
    steps.next();
    for (var group : groups) {
      group.update(slices -> update(slices, group.values(), group.lr(lr), found));
    }
  }

  private void update(Packed slices, GroupValues values, double lr, @Nullable Tensor found) {
    var both = values.betasOr(betas);
    var rule = new AdamKernel.Rule(lr, both.get(0), both.get(1), values.weightDecay(), eps);
    if (amsgrad || !kernel.update(slices, rule, steps.of(values), found)) {
      byLibtorch(slices, values, rule, found == null ? Operator.Absent.NONE : found);
    }
  }

  private void byLibtorch(Packed slices, GroupValues values, AdamKernel.Rule rule, Object found) {
    fused.call(
        slices.parameters(),
        slices.gradients(),
        slices.state(0),
        slices.state(1),
        amsgrad ? slices.state(2) : noMaxima,
        steps(values, slices.count()),
        rule.lr(),
        rule.beta1(),
        rule.beta2(),
        rule.decay(),
        rule.eps(),
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
    kernel.close();
    fused.close();
  }
}
