package dev.flotilla.strategy.localsgd;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.step.Update;
import java.util.concurrent.atomic.AtomicLong;
import org.bytedeco.pytorch.Tensor;

/**
 * Everything of a rank that is averaged, as if it were one flat tensor: parameters, running
 * statistics, and the optimizer's memory where that is wanted. Counters are not averaged.
 */
final class LiveValues {

  private final Tensor parameters;
  private final Tensor statistics;
  private final Update update;
  private final MomentumPolicy policy;
  private final long length;

  LiveValues(BoundModel model, Update update, MomentumPolicy policy) {
    this.parameters = model.arena().values();
    this.statistics = model.buffers().statistics();
    this.update = update;
    this.policy = policy;
    this.length = memoryOffset() + memoryLength();
  }

  private long memoryOffset() {
    return parameters.numel() + statistics.numel();
  }

  private long memoryLength() {
    var elements = new AtomicLong();
    if (policy == MomentumPolicy.AVERAGE) {
      update.remember(
          OptimizerMemory.read(live -> elements.addAndGet(live.dim() == 0 ? 0 : live.numel())));
    }
    return elements.get();
  }

  Tensor parameters() {
    return parameters;
  }

  long length() {
    return length;
  }

  /** Copies some values into their places of a flat tensor. */
  void read(Range range, Tensor flat) {
    try (var _ = TensorScope.open()) {
      if (range.isOfParameters()) {
        range.of(flat).copy_(range.of(parameters));
        return;
      }
      statisticsOf(flat).copy_(statistics);
      if (policy == MomentumPolicy.AVERAGE) {
        var walk = new OptimizerMemory.Walk(flat, memoryOffset());
        update.remember(OptimizerMemory.read(walk::store));
      }
    }
  }

  /** Returns the place of the running statistics in a flat tensor, in the current scope. */
  Tensor statisticsOf(Tensor flat) {
    return flat.narrow(0, parameters.numel(), statistics.numel());
  }

  /** Replaces some values by those of a flat tensor. */
  void write(Range range, Tensor flat) {
    try (var _ = TensorScope.open()) {
      if (range.isOfParameters()) {
        range.of(parameters).copy_(range.of(flat));
        return;
      }
      statistics.copy_(statisticsOf(flat));
      switch (policy) {
        case LOCAL -> {}
        case AVERAGE -> {
          var walk = new OptimizerMemory.Walk(flat, memoryOffset());
          update.remember(OptimizerMemory.change(walk::fetch));
        }
        case RESET -> update.remember(OptimizerMemory.change(Tensor::zero_));
      }
    }
  }
}
