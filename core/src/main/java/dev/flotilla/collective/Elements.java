package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Tensor;

/** Treats tensors as plain rows of elements, whatever their shape. */
final class Elements {

  private Elements() {}

  /** Returns a one-dimensional view of a dense tensor. */
  static Tensor row(Tensor tensor) {
    return tensor.view(-1L);
  }

  /**
   * Returns views of a dense tensor of at most so many bytes, in order; itself if it is short, none
   * if it is empty.
   */
  static List<Tensor> pieces(Tensor tensor, long bytes) {
    if (tensor.numel() == 0) {
      return List.of();
    }
    long length = Math.max(1, bytes / tensor.element_size());
    if (tensor.numel() <= length) {
      return List.of(tensor);
    }
    var row = row(tensor);
    List<Tensor> pieces = new ArrayList<>();
    for (long from = 0; from < row.numel(); from += length) {
      pieces.add(row.narrow(0, from, Math.min(length, row.numel() - from)));
    }
    return pieces;
  }

  /** Copies element by element, without a trace in any graph. */
  static void copy(Tensor target, Tensor source) {
    try (var _ = TensorScope.open();
        var _ = new NoGradGuard()) {
      row(target).copy_(row(source));
    }
  }
}
