package dev.flotilla.pass;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.TensorWindow;
import dev.flotilla.model.Products;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * What the forward pass of a recomputed span has saved for backward: outputs of custom functions,
 * by the number of the part, and products, in their order.
 */
final class SavedOutputs implements AutoCloseable {

  private final Map<Integer, List<Tensor>> byPart = new TreeMap<>();
  private final Deque<TensorWindow.Place> products = new ArrayDeque<>();
  private final boolean takesFunctions;
  private final @Nullable TensorWindow window;

  /**
   * Creates an empty one.
   *
   * @param takesFunctions whether it saves outputs of custom functions
   * @param window keeps products; null for none
   */
  SavedOutputs(boolean takesFunctions, @Nullable TensorWindow window) {
    this.takesFunctions = takesFunctions;
    this.window = window;
  }

  /** Saves nothing. */
  static SavedOutputs none() {
    return new SavedOutputs(false, null);
  }

  /** Tells whether it saves outputs of custom functions. */
  boolean takesFunctions() {
    return takesFunctions;
  }

  /** Keeps the products of this thread's forward pass, until it is closed. */
  Products.Use keepingProducts() {
    var kept = window;
    return kept == null
        ? () -> {}
        : Products.from(
            multiply -> {
              var product = multiply.get();
              products.add(kept.keep(product));
              return product;
            });
  }

  /** Hands this thread's recomputation the products that are still there, until it is closed. */
  Products.Use givingProducts() {
    return window == null
        ? () -> {}
        : Products.from(
            multiply -> {
              var place = products.poll();
              return place == null ? multiply.get() : place.take().orElseGet(multiply);
            });
  }

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

  /** Tells whether recomputation has asked for fewer products than there were. */
  boolean hasProductsLeft() {
    return !products.isEmpty();
  }

  @Override
  public void close() {
    byPart.values().forEach(tensors -> tensors.forEach(TensorScope::free));
    byPart.clear();
    products.forEach(TensorWindow.Place::close);
    products.clear();
  }
}
