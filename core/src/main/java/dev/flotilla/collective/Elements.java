package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;

/** Treats tensors as plain rows of elements, whatever their shape. */
final class Elements {

  private Elements() {}

  /** Returns a one-dimensional view of a dense tensor. */
  static Tensor row(Tensor tensor) {
    return tensor.view(-1L);
  }

  /** Copies element by element, without a trace in any graph. */
  static void copy(Tensor target, Tensor source) {
    try (var _ = TensorScope.open();
        var _ = new NoGradGuard()) {
      row(target).copy_(row(source));
    }
  }
}
