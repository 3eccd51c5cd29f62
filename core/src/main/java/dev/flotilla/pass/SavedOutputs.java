package dev.flotilla.pass;

import dev.flotilla.memory.TensorScope;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.pytorch.Tensor;

/**
 * What the custom functions of a recomputed span have saved for backward, by the number of the
 * part.
 */
final class SavedOutputs implements AutoCloseable {

  private final Map<Integer, List<Tensor>> byPart = new TreeMap<>();

  /** Keeps tensors by handles of its own. */
  void keep(int part, List<Tensor> tensors) {
    byPart.put(part, tensors.stream().map(it -> TensorScope.keep(new Tensor(it))).toList());
  }

  /** Returns the parts, in order. */
  List<Integer> parts() {
    return List.copyOf(byPart.keySet());
  }

  List<Tensor> of(int part) {
    return byPart.getOrDefault(part, List.of());
  }

  @Override
  public void close() {
    byPart.values().forEach(tensors -> tensors.forEach(TensorScope::free));
    byPart.clear();
  }
}
