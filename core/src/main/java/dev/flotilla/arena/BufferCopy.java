package dev.flotilla.arena;

import dev.flotilla.memory.TensorScope;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** The values that buffers had at some moment, in memory of their own. */
public final class BufferCopy implements AutoCloseable {

  private final List<Tensor> live;
  private final List<Tensor> values;

  /** Copies tensors, which stay the caller's. */
  BufferCopy(List<Tensor> live) {
    this.live = live;
    try (var _ = TensorScope.open()) {
      values = live.stream().map(flat -> TensorScope.keep(flat.clone())).toList();
    }
  }

  /** Copies the values of now. */
  public void take() {
    for (int i = 0; i < live.size(); i++) {
      values.get(i).copy_(live.get(i));
    }
  }

  /** Gives the buffers the values they had. */
  public void putBack() {
    for (int i = 0; i < live.size(); i++) {
      live.get(i).copy_(values.get(i));
    }
  }

  /**
   * Gives the buffers the values they had if a number beside them is not zero, without waiting for
   * it.
   */
  public void putBackIf(Tensor number) {
    if (live.isEmpty()) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var isPutBack = number.ne(new Scalar(0));
      for (int i = 0; i < live.size(); i++) {
        live.get(i).copy_(torch.where(isPutBack, values.get(i), live.get(i)));
      }
    }
  }

  @Override
  public void close() {
    values.forEach(TensorScope::free);
  }
}
