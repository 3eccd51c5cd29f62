package dev.flotilla.arena;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * What backward leaves at parameters, and how it comes into the arena: in place once it is bound,
 * all at once on a device, or parameter by parameter where only slices are kept or passes compute
 * with 16 bits.
 */
public final class LeafGradients {

  private final Layout layout;
  private final ComputeDevice device;
  private final Gradients gradients;
  private final Map<String, Tensor> parameters;
  private final boolean isHalf;
  private final Set<Slot> reached = new HashSet<>();
  private @Nullable GatheredGradients gathered;

  LeafGradients(
      Layout layout,
      ComputeDevice device,
      Gradients gradients,
      Map<String, Tensor> parameters,
      boolean isHalf) {
    this.layout = layout;
    this.device = device;
    this.gradients = gradients;
    this.parameters = parameters;
    this.isHalf = isHalf;
  }

  /**
   * Runs the first backward with gradients outside the arena, moves them in and binds them, so that
   * later backwards accumulate in place.
   *
   * @return the names of parameters that the backward did not reach
   */
  public List<String> bindAfter(Runnable firstBackward) {
    runOrForget(firstBackward);
    List<String> unused = new ArrayList<>();
    try (var _ = TensorScope.open()) {
      for (var slot : layout.slots()) {
        bind(slot, unused);
      }
    }
    return unused;
  }

  /** A backward that fails must not leave gradients that the next one would add to. */
  private void runOrForget(Runnable backward) {
    try {
      backward.run();
    } catch (RuntimeException | Error failure) {
      try (var _ = TensorScope.open()) {
        parameters.values().forEach(parameter -> parameter.mutable_grad().put(new Tensor()));
      }
      throw failure;
    }
  }

  private void bind(Slot slot, List<String> unused) {
    var parameter = parameterAt(slot);
    if (gradients.kept().isPresent()) {
      var _ = parameter.grad().defined() ? reached.add(slot) : unused.add(slot.spec().name());
      return;
    }
    var place = ParameterArena.view(gradients.values(), slot);
    if (parameter.grad().defined()) {
      place.add_(parameter.grad());
      reached.add(slot);
    } else if (!reached.contains(slot)) {
      unused.add(slot.spec().name());
    }
    parameter.mutable_grad().put(isHalf ? new Tensor() : place);
  }

  /**
   * Tells whether backward leaves whole gradients at parameters, to be added to the arena, because
   * they have another type than it.
   */
  public boolean collects() {
    return isHalf && gradients.kept().isEmpty();
  }

  /** Adds the gradient that backward has left at a parameter to the arena, and frees it. */
  public void collect(Slot slot) {
    try (var _ = TensorScope.open()) {
      var parameter = parameterAt(slot);
      if (parameter.grad().defined()) {
        ParameterArena.view(gradients.values(), slot).add_(parameter.grad());
        parameter.mutable_grad().put(new Tensor());
        reached.add(slot);
      }
    }
  }

  /** Tells whether the first backward has reached a parameter. */
  public boolean isReached(Slot slot) {
    return reached.contains(slot);
  }

  /**
   * Runs a later backward whose gradients nobody waits for one by one: brings them in all at once
   * where that is quicker, which is on a device.
   */
  public void addAfter(Runnable backward) {
    if (!device.isCuda() || gradients.kept().isPresent()) {
      backward.run();
      return;
    }
    if (gathered == null) {
      try (var _ = TensorScope.open()) {
        gathered =
            new GatheredGradients(
                gradients,
                layout.slots().stream().map(this::parameterAt).toList(),
                layout.slots().stream()
                    .map(slot -> TensorScope.keep(ParameterArena.view(gradients.values(), slot)))
                    .toList());
      }
    }
    gathered.after(backward);
  }

  /** Returns the gradient that backward has left at a parameter, flat; nothing if there is none. */
  public Optional<Tensor> of(Slot slot) {
    var gradient = parameterAt(slot).grad();
    return gradient.defined() ? Optional.of(gradient.reshape(-1)) : Optional.empty();
  }

  /** Frees the gradient that backward has left at a parameter. */
  public void drop(Slot slot) {
    parameterAt(slot).mutable_grad().put(new Tensor());
  }

  /** Frees what a pass that failed has left at parameters, where gradients lie there. */
  public void dropAll() {
    if (gradients.kept().isPresent() || isHalf) {
      try (var _ = TensorScope.open()) {
        layout.slots().forEach(this::drop);
      }
    }
  }

  /** Checks that no backward has replaced a gradient's memory by its own. */
  public void requireInPlace() {
    if (gradients.kept().isPresent() || isHalf) {
      return;
    }
    try (var _ = TensorScope.open()) {
      for (var slot : layout.slots()) {
        long expected =
            gradients.values().data_ptr().address() + slot.offset() * layout.precision().bytes();
        if (parameterAt(slot).grad().data_ptr().address() != expected) {
          throw new IllegalStateException(
              "the gradient of " + slot.spec().name() + " left its arena: another layout or type");
        }
      }
    }
  }

  private Tensor parameterAt(Slot slot) {
    return Objects.requireNonNull(parameters.get(slot.spec().name()));
  }

  void close() {
    if (gathered != null) {
      gathered.close();
    }
  }
}
