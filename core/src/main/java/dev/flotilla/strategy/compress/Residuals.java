package dev.flotilla.strategy.compress;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * What a rank keeps from one update to the next: velocities u and residuals v, as flat as the
 * parameters.
 *
 * <p>Velocities of large parameters are either whole, the same on all ranks, or split: then a
 * rank's u and v are its parts of sums over ranks. Those of small parameters are always whole.
 */
final class Residuals implements AutoCloseable {

  private final Division division;
  private final Tensor velocity;
  private final Tensor residual;
  private boolean isSplit;

  Residuals(ParameterArena arena, Division division) {
    this.division = division;
    try (var _ = TensorScope.open()) {
      velocity = TensorScope.keep(arena.values().new_zeros(arena.layout().length()));
      residual = TensorScope.keep(arena.values().new_zeros(arena.layout().length()));
    }
  }

  Tensor velocity() {
    return velocity;
  }

  Tensor residual() {
    return residual;
  }

  boolean isSplit() {
    return isSplit;
  }

  /** Returns ‖v‖ of this rank. */
  double norm() {
    try (var norm = residual.norm()) {
      return norm.item_double();
    }
  }

  /** Leaves each rank its part of the velocity; the parts add up to what it was. */
  void split(int ranks) {
    try (var _ = TensorScope.open()) {
      var part = new Scalar(1.0 / ranks);
      division.compressed().forEach(slice -> part(velocity, slice).mul_(part));
    }
    residual.zero_();
    isSplit = true;
  }

  /**
   * Makes velocities whole again, and applies what all ranks have kept; all of them call it
   * together.
   */
  void join(ParameterArena arena, Collective collective, double lr) {
    try (var _ = TensorScope.open()) {
      var step = new Scalar(-lr);
      for (var slice : division.compressed()) {
        var u = part(velocity, slice);
        var v = part(residual, slice);
        collective.allReduce(u, Reduction.SUM, Traffic.EXCHANGE).await();
        collective.allReduce(v, Reduction.SUM, Traffic.EXCHANGE).await();
        part(arena.values(), slice).add_(v, step);
      }
    }
    residual.zero_();
    isSplit = false;
  }

  private static Tensor part(Tensor whole, ArenaSlice slice) {
    return whole.narrow(0, slice.offset(), slice.length());
  }

  void remember(RunState state) {
    var shared = state.shared().part("dgc");
    isSplit = shared.number("split", isSplit ? 1 : 0) == 1;
    tensors(shared, "velocity/small", velocity, division.dense());
    if (isSplit) {
      var summed = state.summed().part("dgc");
      tensors(summed, "velocity", velocity, division.compressed());
      tensors(summed, "residual", residual, division.compressed());
    } else {
      tensors(shared, "velocity/large", velocity, division.compressed());
      residual.zero_();
    }
  }

  private static void tensors(State state, String name, Tensor whole, List<ArenaSlice> slices) {
    try (var _ = TensorScope.open()) {
      for (int i = 0; i < slices.size(); i++) {
        state.tensor(name + "/" + i, part(whole, slices.get(i)));
      }
    }
  }

  @Override
  public void close() {
    TensorScope.free(velocity);
    TensorScope.free(residual);
  }
}
