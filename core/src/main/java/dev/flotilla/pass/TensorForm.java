package dev.flotilla.pass;

import dev.flotilla.model.Shape;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Shape and type of a tensor, and whether gradients flow into it. */
record TensorForm(Shape shape, torch.ScalarType type, boolean isDifferentiable) {

  static TensorForm of(Tensor tensor, boolean isDifferentiable) {
    return new TensorForm(
        Shape.of(tensor.shape()), tensor.scalar_type().intern(), isDifferentiable);
  }

  boolean fits(Tensor tensor) {
    return equals(of(tensor, isDifferentiable));
  }

  @Override
  public String toString() {
    return shape + " " + type;
  }
}
