package dev.flotilla.model;

import java.util.function.Supplier;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * The tensors behind a model's parameter and buffer names, as a segment sees them when it is bound.
 */
public interface Weights {

  /** Returns a parameter. */
  Tensor parameter(String name);

  /** Returns a buffer. */
  Tensor buffer(String name);

  /** Returns a parameter as the optional argument that many operators take. */
  TensorOptional optional(String name);

  /**
   * Returns a parameter as the optional argument of an operator that takes float32 whatever its
   * input is, as norms do: a parameter of 16 bits is converted for each call.
   */
  default Supplier<TensorOptional> inFloat32(String name) {
    Tensor parameter = parameter(name);
    var optional = optional(name);
    return parameter.element_size() < Float.BYTES
        ? () -> new TensorOptional(parameter.to(torch.ScalarType.Float))
        : () -> optional;
  }

  /**
   * Tells whether what has this name stays as it is: a parameter that is not trained, or a buffer
   * of running statistics that are used in training, too, and do not move.
   */
  boolean isFrozen(String name);

  /** Makes an existing parameter of a user's module live in the arena, keeping its values. */
  void adoptParameter(String name, Tensor parameter);

  /** Makes an existing buffer of a user's module live among the buffers, keeping its values. */
  void adoptBuffer(String name, Tensor buffer);

  /** Takes a native constant of the segment, which lives as long as the weights. */
  <P extends Pointer> P own(P constant);
}
