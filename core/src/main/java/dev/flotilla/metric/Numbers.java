package dev.flotilla.metric;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import java.lang.foreign.ValueLayout;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Reads tensors of any type and device as Java numbers. */
final class Numbers {

  private Numbers() {}

  static double[] reals(Tensor tensor) {
    try (var _ = TensorScope.open()) {
      var dense = ComputeDevice.CPU.bring(tensor).to(torch.ScalarType.Double).contiguous();
      return NativeView.of(dense).toArray(ValueLayout.JAVA_DOUBLE);
    }
  }

  static long[] integers(Tensor tensor) {
    try (var _ = TensorScope.open()) {
      var dense = ComputeDevice.CPU.bring(tensor).to(torch.ScalarType.Long).contiguous();
      return NativeView.of(dense).toArray(ValueLayout.JAVA_LONG);
    }
  }
}
