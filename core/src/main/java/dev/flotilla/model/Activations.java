package dev.flotilla.model;

import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * What passes from one segment to the next.
 *
 * @param tensors several where a shortcut crosses the boundary, mostly one
 */
public record Activations(List<Tensor> tensors) {

  /** Copies the list. */
  public Activations {
    tensors = List.copyOf(tensors);
  }

  /** Returns activations of the given tensors. */
  public static Activations of(Tensor... tensors) {
    return new Activations(List.of(tensors));
  }

  /** Returns the only tensor. */
  public Tensor only() {
    if (tensors.size() != 1) {
      throw new IllegalStateException("expected one tensor, but there are " + tensors.size());
    }
    return tensors.getFirst();
  }
}
