package dev.flotilla.arena;

import dev.flotilla.memory.Operator;
import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.Tensor;

/**
 * Lets backward leave its gradients in tensors of their own, and brings all of them into the arena
 * at once: a few kernels instead of one for each parameter, which is what a GPU with a small batch
 * spends its time on. The first ones of a window take the place of what is there, so that nobody
 * need clear it; later ones are added.
 *
 * <p>The sums are the same to the bit but for the sign of zeros, as each parameter still gets one
 * addition for a backward.
 */
final class GatheredGradients implements AutoCloseable {

  private final Operator add = new Operator("aten::_foreach_add_", "List");
  private final Operator copy = new Operator("aten::_foreach_copy_");
  private final Gradients arena;
  private final List<Tensor> parameters;
  private final List<Tensor> places;
  private final IValue allPlaces;
  private final Tensor none;

  /**
   * Takes the parameters out of the arena's hands.
   *
   * @param places where the gradient of each parameter belongs; owned from now on
   */
  GatheredGradients(Gradients arena, List<Tensor> parameters, List<Tensor> places) {
    this.arena = arena;
    arena.overwrite();
    this.parameters = parameters;
    this.places = places;
    this.allPlaces = Operator.list(places);
    try (var _ = TensorScope.open()) {
      none = TensorScope.keep(new Tensor());
      parameters.forEach(this::forget);
    }
  }

  private void forget(Tensor parameter) {
    parameter.mutable_grad().put(none);
  }

  /** Brings in what a backward leaves; of one that fails nothing stays. */
  void after(Runnable backward) {
    try {
      backward.run();
      takeAll();
    } finally {
      try (var _ = TensorScope.open()) {
        parameters.forEach(this::forget);
      }
    }
  }

  private void takeAll() {
    try (var _ = TensorScope.open()) {
      List<Tensor> gradients = new ArrayList<>(parameters.size());
      List<Tensor> reached = new ArrayList<>(parameters.size());
      List<Tensor> others = new ArrayList<>();
      for (int i = 0; i < parameters.size(); i++) {
        var gradient = parameters.get(i).grad();
        if (gradient.defined()) {
          gradients.add(gradient);
          reached.add(places.get(i));
        } else {
          others.add(places.get(i));
        }
      }
      if (!gradients.isEmpty()) {
        take(reached, gradients, others);
      }
    }
  }

  private void take(List<Tensor> reached, List<Tensor> gradients, List<Tensor> others) {
    var targets = others.isEmpty() ? allPlaces : Operator.list(reached);
    var sources = Operator.list(gradients);
    if (arena.isStale()) {
      copy.call(targets, sources, false);
      others.forEach(Tensor::zero_);
      arena.replaced();
    } else {
      add.call(targets, sources, 1L);
    }
    TensorScope.free(sources);
    if (!others.isEmpty()) {
      TensorScope.free(targets);
    }
  }

  @Override
  public void close() {
    TensorScope.free(allPlaces);
    places.forEach(TensorScope::free);
    TensorScope.free(none);
    add.close();
    copy.close();
  }
}
