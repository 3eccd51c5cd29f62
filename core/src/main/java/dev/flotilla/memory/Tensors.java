package dev.flotilla.memory;

import java.lang.foreign.ValueLayout;
import org.bytedeco.pytorch.MemoryFormatOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;

/**
 * Makes tensors and reads single numbers, without the native helper objects that each call of the
 * binding would otherwise leave to the collector.
 */
public final class Tensors {

  private Tensors() {}

  /** Returns a tensor of zeros in the current scope. */
  public static Tensor zeros(torch.ScalarType type, long... shape) {
    return empty(type, shape).zero_();
  }

  /** Returns a tensor without defined content in the current scope. */
  public static Tensor empty(torch.ScalarType type, long... shape) {
    try (var scope = TensorScope.open()) {
      var options = new TensorOptions(type);
      return scope.handOut(torch.empty(shape, options, new MemoryFormatOptional()));
    }
  }

  /** Returns an int64 vector in the current scope. */
  public static Tensor ofLongs(long... values) {
    var tensor = empty(torch.ScalarType.Long, values.length);
    var memory = NativeView.of(tensor);
    for (int i = 0; i < values.length; i++) {
      memory.setAtIndex(ValueLayout.JAVA_LONG, i, values[i]);
    }
    return tensor;
  }

  /** Returns a float64 vector in the current scope. */
  public static Tensor ofDoubles(double... values) {
    var tensor = empty(torch.ScalarType.Double, values.length);
    var memory = NativeView.of(tensor);
    for (int i = 0; i < values.length; i++) {
      memory.setAtIndex(ValueLayout.JAVA_DOUBLE, i, values[i]);
    }
    return tensor;
  }

  /** Multiplies a tensor in place. */
  public static void scale(Tensor tensor, double factor) {
    try (var scalar = new Scalar(factor)) {
      tensor.mul_(scalar);
    }
  }

  /** Brings each element to the nearest number of at most this absolute value, in place. */
  public static void limit(Tensor tensor, double most) {
    try (var least = new Scalar(-most);
        var largest = new Scalar(most)) {
      tensor.clamp_min_(least).clamp_max_(largest);
    }
  }
}
