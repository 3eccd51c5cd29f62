package dev.flotilla.arena;

import dev.flotilla.memory.Operator;
import dev.flotilla.memory.TensorScope;
import java.util.List;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * Multiplies all gradients and notes on the way whether one of them is infinite or undefined: one
 * pass over memory where a product and a search would take three on a device.
 */
final class CheckedScale implements AutoCloseable {

  private final Operator operator =
      new Operator("aten::_amp_foreach_non_finite_check_and_unscale_");
  private final IValue values;
  private final IValue loss;
  private final Tensor one;
  private final Tensor found;
  private final Tensor factor;
  private double lastFactor;
  private boolean isDone;

  /**
   * Creates it.
   *
   * @param loss the sum of the loss
   * @param found becomes 1 if something is not finite, and stays so until it is cleared; owned
   */
  CheckedScale(Tensor values, Tensor loss, Tensor found) {
    this.values = Operator.list(List.of(values));
    this.loss = Operator.list(List.of(loss));
    this.found = found;
    try (var _ = TensorScope.open()) {
      factor = TensorScope.keep(found.new_zeros(1));
      one = TensorScope.keep(found.new_ones(1));
    }
  }

  void apply(double by) {
    if (by != lastFactor) {
      try (var scalar = new Scalar(by)) {
        factor.fill_(scalar);
      }
      lastFactor = by;
    }
    operator.call(values, found, factor);
    isDone = true;
  }

  /** Looks at the loss as well. */
  void checkLoss() {
    operator.call(loss, found, one);
  }

  /** Returns what is 1 where something is not finite, and 0 otherwise. */
  Tensor found() {
    return found;
  }

  /** Tells whether everything was looked at since the gradients were cleared. */
  boolean isDone() {
    return isDone;
  }

  void cleared() {
    isDone = false;
  }

  @Override
  public void close() {
    TensorScope.free(values);
    TensorScope.free(loss);
    TensorScope.free(one);
    TensorScope.free(found);
    TensorScope.free(factor);
    operator.close();
  }
}
