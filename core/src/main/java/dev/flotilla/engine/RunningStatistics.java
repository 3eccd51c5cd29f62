package dev.flotilla.engine;

import dev.flotilla.arena.BufferArena;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * Averages BatchNorm's running statistics over ranks, each weighted by the samples it has seen.
 *
 * <p>s ← Σᵣ nᵣ sᵣ / Σᵣ nᵣ. Evaluation and saving use the average in place of the rank's own values
 * and put those back, so that neither changes the training.
 */
public final class RunningStatistics implements Stateful {

  private final BufferArena buffers;
  private final Collective collective;
  private long samples;

  /** Creates the average of a model's buffers. */
  public RunningStatistics(BufferArena buffers, Collective collective) {
    this.buffers = buffers;
    this.collective = collective;
  }

  /** Counts samples this rank has trained on. */
  public void saw(int more) {
    samples += more;
  }

  /** Runs an action with the average in place; all ranks call it together. */
  public <T> T whileAveraged(java.util.function.Supplier<T> action) {
    if (!isNeeded()) {
      return action.get();
    }
    try (var _ = TensorScope.open()) {
      Tensor own = buffers.statistics().clone();
      average();
      T result = action.get();
      buffers.statistics().copy_(own);
      return result;
    }
  }

  /** Replaces every rank's statistics by the average; all ranks call it together. */
  public void average() {
    if (!isNeeded()) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var count = Tensors.ofDoubles((double) samples);
      collective.allReduce(count, Reduction.SUM, Traffic.SCALAR).await();
      double all = count.item_double();
      // Before the first step nobody has seen a sample, and all ranks hold the same values.
      double weight = all == 0 ? 1.0 / collective.size() : samples / all;
      buffers.statistics().mul_(new Scalar(weight));
      collective.allReduce(buffers.statistics(), Reduction.SUM, Traffic.SCALAR).await();
    }
  }

  /** Buffers are published as the average over ranks; each rank's own values come on top. */
  @Override
  public void remember(RunState state) {
    samples = state.summed().number("statistics/samples", samples);
    if (state.isSaving()) {
      rememberOwn(state);
      whileAveraged(
          () -> {
            rememberPublished(state);
            return samples;
          });
    } else {
      rememberPublished(state);
      rememberOwn(state);
    }
  }

  private void rememberPublished(RunState state) {
    buffers.buffers().forEach(state.weights()::tensor);
  }

  private void rememberOwn(RunState state) {
    if (isNeeded()) {
      state.own().tensor("statistics/running", buffers.statistics());
    }
  }

  private boolean isNeeded() {
    return collective.size() > 1 && buffers.hasStatistics();
  }
}
