package dev.flotilla.arena;

import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A tail on a device. Writing only starts; reading waits, once for all numbers until one of them
 * changes.
 */
final class DeviceTail implements Tail {

  private final Tensor numbers;
  private final List<Tensor> single = new ArrayList<>();
  private final Tensor read;
  private boolean isFresh;

  /** Takes the part of a flat tensor that holds the numbers; it stays the caller's. */
  DeviceTail(Tensor numbers) {
    this.numbers = numbers;
    try (var _ = TensorScope.open()) {
      for (int i = 0; i < numbers.numel(); i++) {
        single.add(TensorScope.keep(numbers.narrow(0, i, 1)));
      }
      var host = Tensors.zeros(torch.ScalarType.Double, numbers.numel());
      read = TensorScope.keep(host);
    }
  }

  @Override
  public void set(int index, double value) {
    try (var scalar = new Scalar(value)) {
      single.get(index).fill_(scalar);
    }
    isFresh = false;
  }

  @Override
  public double get(int index) {
    if (!isFresh) {
      try (var _ = TensorScope.open()) {
        read.copy_(numbers.cpu());
      }
      isFresh = true;
    }
    return NativeView.of(read).getAtIndex(ValueLayout.JAVA_DOUBLE, index);
  }

  @Override
  public void changed() {
    isFresh = false;
  }

  @Override
  public void close() {
    single.forEach(TensorScope::free);
    TensorScope.free(read);
  }
}
