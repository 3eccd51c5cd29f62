package dev.flotilla.memory;

import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** The dtype of parameters, gradients and accumulators. */
public enum Precision {
  /** IEEE single precision. */
  FLOAT32(4),
  /** IEEE double precision, for checking. */
  FLOAT64(8);

  private final int bytes;

  Precision(int bytes) {
    this.bytes = bytes;
  }

  /** Returns the size of one element. */
  public int bytes() {
    return bytes;
  }

  /** Returns libtorch's name for this type; loads libtorch's enumeration, not its library. */
  public torch.ScalarType scalarType() {
    return this == FLOAT32 ? torch.ScalarType.Float : torch.ScalarType.Double;
  }

  /** Returns the precision of a tensor of floating-point numbers. */
  public static Precision of(Tensor tensor) {
    return tensor.element_size() == FLOAT32.bytes ? FLOAT32 : FLOAT64;
  }
}
