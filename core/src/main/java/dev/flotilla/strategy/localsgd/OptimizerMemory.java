package dev.flotilla.strategy.localsgd;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.state.TensorState;
import java.util.List;
import java.util.function.Consumer;
import org.bytedeco.pytorch.Tensor;

/**
 * Reaches the tensors that an optimizer remembers, by the same way as checkpoints do.
 *
 * <p>Counters, which have no axis, are left alone unless everything is to start anew.
 */
final class OptimizerMemory implements RunState, TensorState {

  private final boolean isReading;
  private final Consumer<Tensor> visitor;

  private OptimizerMemory(boolean isReading, Consumer<Tensor> visitor) {
    this.isReading = isReading;
    this.visitor = visitor;
  }

  /** Returns a state that shows every tensor to a visitor who does not change it. */
  static RunState read(Consumer<Tensor> visitor) {
    return new OptimizerMemory(true, visitor);
  }

  /** Returns a state in which a visitor changes every tensor. */
  static RunState change(Consumer<Tensor> visitor) {
    return new OptimizerMemory(false, visitor);
  }

  /** A walk over a flat tensor, part by part. */
  static final class Walk {

    private final Tensor flat;
    private long offset;

    Walk(Tensor flat, long offset) {
      this.flat = flat;
      this.offset = offset;
    }

    void store(Tensor live) {
      if (live.dim() > 0) {
        next(live).copy_(live);
      }
    }

    void fetch(Tensor live) {
      if (live.dim() > 0) {
        live.copy_(next(live));
      }
    }

    private Tensor next(Tensor live) {
      try (var scope = TensorScope.open()) {
        var part = flat.narrow(0, offset, live.numel()).view_as(live);
        offset += live.numel();
        return scope.handOut(part);
      }
    }
  }

  @Override
  public void tensor(String name, Tensor live) {
    visitor.accept(live);
  }

  @Override
  public boolean isSaving() {
    return isReading;
  }

  @Override
  public State weights() {
    return this;
  }

  @Override
  public State movingAverage() {
    return this;
  }

  @Override
  public State shared() {
    return this;
  }

  @Override
  public State sliced() {
    return this;
  }

  @Override
  public State own() {
    return this;
  }

  @Override
  public List<State> dealt() {
    return List.of(this);
  }

  @Override
  public State leader() {
    return this;
  }

  @Override
  public State summed() {
    return this;
  }
}
