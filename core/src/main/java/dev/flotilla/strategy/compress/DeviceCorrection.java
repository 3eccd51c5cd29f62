package dev.flotilla.strategy.compress;

import dev.flotilla.memory.Operator;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.List;
import org.bytedeco.pytorch.IValue;

/**
 * Momentum correction on a device: {@link Correction}'s formulas in one kernel, which reads g, u
 * and v and writes u and v.
 *
 * <p>The fused optimizer step does it: with the residual in the parameter's place and a learning
 * rate of −1 it computes u ← m u + c g, v ← v + u.
 */
final class DeviceCorrection implements AutoCloseable {

  private final Rule rule;
  private final DeviceField field;
  private final Operator fused = new Operator("aten::_fused_sgd_");
  private final IValue residuals;
  private final IValue gradients;
  private final IValue velocities;

  DeviceCorrection(Rule rule, DeviceField field) {
    this.rule = rule;
    this.field = field;
    residuals = Operator.list(List.of(field.residual()));
    gradients = Operator.list(List.of(field.gradient()));
    velocities = Operator.list(List.of(field.velocity()));
  }

  /**
   * Runs the pass; the gradient is then of no further use.
   *
   * @param factor c, what the gradient is multiplied by
   */
  void apply(double factor) {
    field.keepingOthers(
        () -> {
          field.decay(factor);
          correct(factor);
        });
  }

  private void correct(double factor) {
    if (rule.momentum() == 0) { // the operator then takes no velocities
      field.velocity().copy_(field.gradient());
      Tensors.scale(field.velocity(), factor);
      field.residual().add_(field.velocity());
      return;
    }
    // With Nesterov the operator adds the gradient itself as well, which c must reach too.
    if (rule.nesterov()) {
      Tensors.scale(field.gradient(), factor);
    }
    double dampening = rule.nesterov() ? 0 : 1 - factor;
    fused.call(
        residuals,
        gradients,
        velocities,
        0.0,
        rule.momentum(),
        -1.0,
        dampening,
        rule.nesterov(),
        false,
        false,
        Operator.Absent.NONE,
        Operator.Absent.NONE);
  }

  @Override
  public void close() {
    TensorScope.free(residuals);
    TensorScope.free(gradients);
    TensorScope.free(velocities);
    fused.close();
  }
}
