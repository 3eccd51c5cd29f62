package dev.flotilla.optim;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;

/**
 * One of libtorch's own C++ optimizers over arena slices.
 *
 * <p>The factory is called once per parameter group with the group's slices and its weight decay,
 * which it must put into the options it makes.
 *
 * @param lr learning rate before the schedule
 * @param weightDecay decay for groups that are decayed
 * @param factory makes the optimizer of a group
 */
public record TorchOptimizer(
    double lr,
    double weightDecay,
    BiFunction<TensorVector, Double, org.bytedeco.pytorch.Optimizer> factory)
    implements Optimizer {

  /** Checks the settings. */
  public TorchOptimizer {
    Rules.check(lr, weightDecay).orThrow();
  }

  @Override
  public boolean takesGroupRates() {
    return true;
  }

  @Override
  public Bound bind(List<ParameterGroup> groups) {
    return new Wrapped(groups, factory);
  }

  private static final class Wrapped implements Bound {

    private final List<Tensor> leaves = new ArrayList<>();
    private final List<ParameterGroup> groups;
    private final List<org.bytedeco.pytorch.Optimizer> optimizers = new ArrayList<>();

    Wrapped(
        List<ParameterGroup> groups,
        BiFunction<TensorVector, Double, org.bytedeco.pytorch.Optimizer> factory) {
      this.groups = groups;
      try (var _ = TensorScope.open()) {
        for (var group : groups) {
          var parameters = new TensorVector();
          group.slices().forEach(slice -> parameters.push_back(leafFor(slice)));
          optimizers.add(TensorScope.keep(factory.apply(parameters, group.weightDecay())));
        }
      }
    }

    private Tensor leafFor(ParameterGroup.Slice slice) {
      var leaf = TensorScope.keep(slice.parameter().detach().set_requires_grad(true));
      leaf.mutable_grad().put(slice.gradient());
      leaves.add(leaf);
      return leaf;
    }

    @Override
    public void update(double lr) {
      try (var _ = TensorScope.open()) {
        for (int group = 0; group < groups.size(); group++) {
          if (groups.get(group).isFrozen().getAsBoolean()) {
            continue;
          }
          var optimizer = optimizers.get(group);
          var options = optimizer.param_groups();
          for (long i = 0; i < options.size(); i++) {
            options.get(i).options().set_lr(groups.get(group).lr(lr));
          }
          optimizer.step();
        }
      }
    }

    @Override
    public void remember(State state) {
      throw new UnsupportedOperationException(
          "a TorchOptimizer keeps its memory inside libtorch, which does not hand it out: switch"
              + " checkpoints off, or use one of Flotilla's own optimizers");
    }

    @Override
    public void close() {
      optimizers.forEach(TensorScope::free);
      leaves.forEach(TensorScope::free);
    }
  }
}
