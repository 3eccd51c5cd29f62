package dev.flotilla.checkpoint;

import dev.flotilla.memory.NativeView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.bytedeco.pytorch.MemoryFormatOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;

/** Makes tensors for tests; they belong to the caller's scope. */
final class Tensors {

  private Tensors() {}

  static Tensor empty(ScalarType type, long... shape) {
    return torch.empty(shape, new TensorOptions(type), new MemoryFormatOptional());
  }

  /** Any bits are a value of most types; of BOOL only 0 and 1. */
  static Tensor random(ScalarType type, Random random, long... shape) {
    var tensor = empty(type, shape);
    var memory = NativeView.of(tensor);
    for (long i = 0; i < memory.byteSize(); i++) {
      memory.set(
          ValueLayout.JAVA_BYTE, i, (byte) random.nextInt(type == ScalarType.Bool ? 2 : 256));
    }
    return tensor;
  }

  static Tensor floats(float... values) {
    var tensor = empty(ScalarType.Float, values.length);
    NativeView.of(tensor).copyFrom(MemorySegment.ofArray(values));
    return tensor;
  }

  static byte[] bytes(Tensor tensor) {
    return NativeView.of(tensor).toArray(ValueLayout.JAVA_BYTE);
  }
}
