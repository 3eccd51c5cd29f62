package dev.flotilla.verify;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Copies tensors to the Java heap and back, as float64. */
public final class FlatCopy {

  /** Enough coordinates to tell what a gradient is made of, few enough to keep many of them. */
  private static final int THINNED = 8192;

  private FlatCopy() {}

  /** Returns the numbers of a tensor in their order. */
  public static double[] of(Tensor tensor) {
    try (var _ = TensorScope.open()) {
      var host = ComputeDevice.CPU.bring(tensor.detach());
      var copy = host.to(torch.ScalarType.Double).contiguous();
      return NativeView.of(copy).toArray(ValueLayout.JAVA_DOUBLE);
    }
  }

  static void into(Tensor tensor, double[] values) {
    try (var _ = TensorScope.open()) {
      tensor.detach().copy_(Tensors.ofDoubles(values).reshape(tensor.shape()));
    }
  }

  /** Returns evenly spaced coordinates. */
  static double[] thinned(double[] values) {
    int step = Math.max(1, Math.ceilDiv(values.length, THINNED));
    var few = new double[Math.ceilDiv(values.length, step)];
    for (int i = 0; i < few.length; i++) {
      few[i] = values[i * step];
    }
    return few;
  }
}
