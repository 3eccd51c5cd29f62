package dev.flotilla.pass;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.bytedeco.pytorch.Tensor;

/**
 * Hands activations from one part to the next and frees each handle as soon as no later part can
 * ask for it. Backward keeps what it needs by itself; a handle kept longer would keep memory that
 * nobody needs.
 */
final class Relay implements AutoCloseable {

  private final Activations input;
  private final Set<Tensor> owned = Collections.newSetFromMap(new IdentityHashMap<>());
  private Activations current;

  /** Starts from activations that stay the caller's. */
  Relay(Activations input) {
    this.input = input;
    this.current = input;
  }

  /** Tells whether a tensor is one of some activations: the same handle, not only equal. */
  @SuppressWarnings("ReferenceEquality") // Two handles of one tensor are freed one by one.
  static boolean holds(Activations activations, Tensor tensor) {
    return activations.tensors().stream().anyMatch(other -> other == tensor);
  }

  Activations current() {
    return current;
  }

  /** Takes the outputs of a part, of which those that it has made are kept by it. */
  void pass(Activations outputs) {
    outputs.tensors().stream().filter(tensor -> !holds(input, tensor)).forEach(owned::add);
    owned.removeIf(
        tensor -> {
          boolean isDone = !holds(outputs, tensor);
          if (isDone) {
            TensorScope.free(tensor);
          }
          return isDone;
        });
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
