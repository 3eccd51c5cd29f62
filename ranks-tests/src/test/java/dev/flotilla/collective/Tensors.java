package dev.flotilla.collective;

import dev.flotilla.memory.NativeView;
import java.lang.foreign.ValueLayout;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;

/** Small tensors for tests. */
final class Tensors {

  private Tensors() {}

  static Tensor filled(double value, int elements, ScalarType type) {
    return torch.full(new long[] {elements}, new Scalar(value), new TensorOptions(type));
  }

  static Tensor floats(double value, int elements) {
    return filled(value, elements, ScalarType.Float);
  }

  /** Returns start, start + 1, … */
  static Tensor counting(int start, int elements, ScalarType type) {
    return torch.arange(new Scalar(start), new Scalar(start + elements)).to(type);
  }

  static double[] values(Tensor tensor) {
    return NativeView.of(tensor.to(ScalarType.Double)).toArray(ValueLayout.JAVA_DOUBLE);
  }

  static byte[] bytes(Tensor tensor) {
    return NativeView.of(tensor).toArray(ValueLayout.JAVA_BYTE);
  }
}
