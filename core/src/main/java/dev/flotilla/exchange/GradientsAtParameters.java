package dev.flotilla.exchange;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Slot;
import dev.flotilla.arena.Totals;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.Objects;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;

/**
 * The gradients that backward has left at parameters, where a rank keeps only slices of the sums:
 * those of one micro-step, before any of them has been reduced.
 */
record GradientsAtParameters(ParameterArena arena) implements GradientView {

  private Stream<Tensor> all() {
    return arena.layout().slots().stream().flatMap(this::of);
  }

  private Stream<Tensor> of(Slot slot) {
    var parameter = Objects.requireNonNull(arena.parameters().get(slot.spec().name()));
    return Stream.of(parameter.grad()).filter(Tensor::defined);
  }

  @Override
  public double norm() {
    try (var _ = TensorScope.open()) {
      return Math.sqrt(all().mapToDouble(it -> Math.pow(it.norm().item_double(), 2)).sum());
    }
  }

  @Override
  public double limit(double ofMean) {
    return ofMean;
  }

  @Override
  public void scale(double by) {
    try (var _ = TensorScope.open()) {
      all().forEach(gradient -> Tensors.scale(gradient, by));
    }
  }

  @Override
  public void limitEach(double most) {
    try (var _ = TensorScope.open()) {
      all().forEach(gradient -> Tensors.limit(gradient, most));
    }
  }

  @Override
  public boolean isFinite() {
    try (var _ = TensorScope.open()) {
      return all().allMatch(Gradients::isFinite);
    }
  }

  @Override
  public void clear(Slot slot) {
    try (var _ = TensorScope.open()) {
      of(slot).forEach(Tensor::zero_);
    }
  }

  @Override
  public boolean isZero(Slot slot) {
    try (var _ = TensorScope.open()) {
      return of(slot).allMatch(gradient -> gradient.abs().max().item_double() == 0);
    }
  }

  @Override
  public Totals totals() {
    return arena.gradients().totals();
  }

  @Override
  public double lossSum() {
    return arena.gradients().lossSum();
  }
}
