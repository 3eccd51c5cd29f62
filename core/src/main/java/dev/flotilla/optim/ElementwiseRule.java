package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.optim.Packed.Piece;
import dev.flotilla.state.State;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** A rule that looks at each element alone and has no fused operator. */
final class ElementwiseRule implements Optimizer.Bound {

  /** Updates a piece of the parameters. */
  @FunctionalInterface
  interface Formula {

    /**
     * Changes parameters and what is remembered of them, in place.
     *
     * @param values what the group has of its own
     * @param lr the rate of its group
     * @param update number of this update, from 1
     */
    void apply(Piece piece, GroupValues values, double lr, long update);
  }

  private final int kinds;
  private final Formula formula;
  private final List<GroupState> groups;
  private final UpdateNumbers numbers;

  /**
   * Allocates the rule's memory.
   *
   * @param kinds numbers that the rule remembers for each parameter
   */
  ElementwiseRule(List<ParameterGroup> groups, int kinds, Formula formula) {
    this.kinds = kinds;
    this.formula = formula;
    this.groups = groups.stream().map(group -> new GroupState(group, kinds)).toList();
    numbers = new UpdateNumbers(this.groups, ComputeDevice.CPU, torch.ScalarType.Double);
  }

  @Override
  public void update(double lr) {
    numbers.next();
    for (var group : groups) {
      long update = numbers.number(group.values());
      group.update(
          slices ->
              slices.forEach(piece -> formula.apply(piece, group.values(), group.lr(lr), update)));
    }
  }

  /** Returns g + λ w, the gradient with the decay in it. */
  static Tensor decayed(Piece piece, double weightDecay) {
    return weightDecay == 0
        ? piece.gradient()
        : piece.gradient().add(piece.parameter(), new Scalar(weightDecay));
  }

  @Override
  public void remember(State state) {
    numbers.remember(state);
    GroupState.rememberAll(groups, kinds, state.part("memory"));
  }

  @Override
  public void close() {
    groups.forEach(GroupState::close);
    numbers.close();
  }
}
