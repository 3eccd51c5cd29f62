package dev.flotilla.optim;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.State;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Counts updates, in a tensor as what else a rule remembers. */
final class UpdateNumber implements AutoCloseable {

  private final Tensor step;

  UpdateNumber() {
    try (var _ = TensorScope.open()) {
      step = TensorScope.keep(ComputeDevice.CPU.zeros(torch.ScalarType.Double));
    }
  }

  long next() {
    try (var one = new Scalar(1.0)) {
      step.add_(one);
    }
    return (long) step.item_double();
  }

  void remember(State state) {
    state.tensor("step", step);
  }

  @Override
  public void close() {
    TensorScope.free(step);
  }
}
