package dev.flotilla.arena;

import dev.flotilla.memory.Operator;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.GradientRooms;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.Tensor;

/**
 * Lets backward leave its gradients in tensors of their own, and brings all of them into the arena
 * at once: a few kernels instead of one for each parameter, which is what a GPU with a small batch
 * spends its time on. The first ones of a window take the place of what is there, so that nobody
 * need clear it, and may be written there at once; later ones are added.
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
  private final long[] addresses;
  private final boolean[] isWritten;
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
    this.addresses = parameters.stream().mapToLong(GradientRooms::addressOf).toArray();
    this.isWritten = new boolean[addresses.length];
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
      runWithRooms(backward);
      takeAll();
    } finally {
      try (var _ = TensorScope.open()) {
        parameters.forEach(this::forget);
      }
    }
  }

  /** What lies in the arena is of no use to anybody before the first gradients of a window. */
  private void runWithRooms(Runnable backward) {
    boolean isOpen = arena.isStale();
    Arrays.fill(isWritten, false);
    for (int i = 0; isOpen && i < addresses.length; i++) {
      GradientRooms.open(addresses[i], places.get(i));
    }
    try {
      backward.run();
    } finally {
      for (int i = 0; isOpen && i < addresses.length; i++) {
        isWritten[i] = GradientRooms.close(addresses[i]);
      }
    }
  }

  /** What was written may since have been added to something else. */
  private boolean isThere(int parameter, Tensor gradient) {
    return isWritten[parameter]
        && GradientRooms.addressOf(gradient) == GradientRooms.addressOf(places.get(parameter));
  }

  private void takeAll() {
    try (var _ = TensorScope.open()) {
      List<Tensor> gradients = new ArrayList<>(parameters.size());
      List<Tensor> reached = new ArrayList<>(parameters.size());
      List<Tensor> others = new ArrayList<>();
      for (int i = 0; i < parameters.size(); i++) {
        var gradient = parameters.get(i).grad();
        if (!gradient.defined()) {
          others.add(places.get(i));
        } else if (!isThere(i, gradient)) {
          gradients.add(gradient);
          reached.add(places.get(i));
        }
      }
      if (others.size() < parameters.size()) {
        take(reached, gradients, others);
      }
    }
  }

  private void take(List<Tensor> reached, List<Tensor> gradients, List<Tensor> others) {
    boolean isAll = reached.size() == places.size();
    var targets = isAll ? allPlaces : Operator.list(reached);
    var sources = Operator.list(gradients);
    if (!arena.isStale()) {
      add.call(targets, sources, 1L);
    } else {
      if (!reached.isEmpty()) {
        copy.call(targets, sources, false);
      }
      others.forEach(Tensor::zero_);
      arena.replaced();
    }
    TensorScope.free(sources);
    if (!isAll) {
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
