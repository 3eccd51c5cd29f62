package dev.flotilla.pass;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Hands activations from one part to the next and frees each handle as soon as no later part can
 * ask for it. Backward keeps what it needs by itself; a handle kept longer would keep memory that
 * nobody needs.
 */
final class Relay implements AutoCloseable {

  private final Activations input;
  private final List<Tensor> owned = new ArrayList<>(2);
  private Activations current;

  /** Starts from activations that stay the caller's. */
  Relay(Activations input) {
    this.input = input;
    this.current = input;
  }

  /** Tells whether a tensor is one of some activations: the same handle, not only equal. */
  @SuppressWarnings("ReferenceEquality") // Two handles of one tensor are freed one by one.
  static boolean holds(Activations activations, Tensor tensor) {
    return holds(activations.tensors(), tensor);
  }

  @SuppressWarnings("ReferenceEquality") // as above
  static boolean holds(List<Tensor> tensors, Tensor tensor) {
    for (var other : tensors) {
      if (other == tensor) {
        return true;
      }
    }
    return false;
  }

  Activations current() {
    return current;
  }

  /** Takes the outputs of a part, of which those that it has made are kept by it. */
  void pass(Activations outputs) {
    for (var before : owned) {
      if (!holds(outputs, before)) {
        TensorScope.free(before);
      }
    }
    owned.clear();
    for (var tensor : outputs.tensors()) {
      if (!holds(input, tensor) && !holds(owned, tensor)) {
        owned.add(tensor);
      }
    }
    current = outputs;
  }

  /** Gives the last outputs to the caller's scope. */
  Activations arrive() {
    owned.forEach(TensorScope::adopt);
    owned.clear();
    return current;
  }

  /** Frees what has not arrived. */
  @Override
  public void close() {
    owned.forEach(TensorScope::free);
    owned.clear();
  }
}
