package dev.flotilla.strategy.powersgd;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Slot;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.RunState;
import java.util.SplittableRandom;
import java.util.function.DoubleSupplier;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * A parameter that is sent as factors: where its gradient lies, what of it the rank keeps, and the
 * Q of the next update. Factors are held transposed, so that their vectors are rows.
 */
final class LowRankMatrix implements AutoCloseable {

  private final String name;
  private final FactorShape shape;
  private final Tensor gradient;
  private final Tensor kept;
  private final Tensor start;

  LowRankMatrix(Slot slot, FactorShape shape, Gradients gradients) {
    this.name = slot.spec().name();
    this.shape = shape;
    try (var _ = TensorScope.open()) {
      var flat = gradients.values().narrow(0, slot.offset(), slot.length());
      gradient = TensorScope.keep(flat.view(shape.rows(), shape.columns()));
      kept = TensorScope.keep(flat.new_zeros(shape.rows(), shape.columns()));
      start = TensorScope.keep(flat.new_zeros(shape.rank(), shape.columns()));
      var first = new double[shape.second()];
      Householder.orthonormalise(first, 0, shape.rank(), shape.columns(), numbers(0));
      start.view(first.length).copy_(Tensors.ofDoubles(first));
    }
  }

  FactorShape shape() {
    return shape;
  }

  /** Returns random numbers that are the same on all ranks. */
  DoubleSupplier numbers(long update) {
    var random = new SplittableRandom(name.hashCode() + 0x9E3779B97F4A7C15L * update);
    return () -> random.nextDouble(-1, 1);
  }

  /** Adds the gradient to what is kept, and computes this rank's part of P. */
  void project(double factor, Tensor p) {
    try (var _ = TensorScope.open()) {
      kept.add_(gradient, new Scalar(factor));
      p.copy_(start.matmul(kept.t()));
    }
  }

  /** Computes this rank's part of the other factor, with the orthonormal P of all ranks. */
  void correlate(Tensor p, Tensor s) {
    try (var _ = TensorScope.open()) {
      s.copy_(p.matmul(kept));
    }
  }

  /**
   * Makes the gradient what all ranks have sent, and keeps the rest. One product and one sum at a
   * time, which are the same bits on all ranks whatever their threads and processors.
   */
  void decode(Tensor p, Tensor s, int ranks) {
    for (int k = 0; k < shape.rank(); k++) {
      try (var _ = TensorScope.open()) {
        var outer = p.narrow(0, k, 1).t().mul(s.narrow(0, k, 1));
        if (k == 0) {
          gradient.copy_(outer);
        } else {
          gradient.add_(outer);
        }
      }
    }
    try (var part = new Scalar(-1.0 / ranks)) {
      kept.add_(gradient, part);
    }
  }

  /** Sets the Q of the next update. */
  void start(Tensor orthonormal) {
    start.copy_(orthonormal);
  }

  /** Makes the gradient what this rank has, and keeps nothing. */
  void deliver(double factor) {
    Tensors.scale(gradient, factor);
    gradient.add_(kept);
    kept.zero_();
  }

  /** Returns the norm of what is kept. */
  double norm() {
    try (var norm = kept.norm()) {
      return norm.item_double();
    }
  }

  void remember(RunState state) {
    state.summed().part("powersgd").tensor("residual/" + name, kept);
    state.shared().part("powersgd").tensor("start/" + name, start);
  }

  @Override
  public void close() {
    TensorScope.free(start);
    TensorScope.free(kept);
    TensorScope.free(gradient);
  }
}
