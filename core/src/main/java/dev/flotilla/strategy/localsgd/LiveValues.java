package dev.flotilla.strategy.localsgd;

import dev.flotilla.engine.BoundModel;
import dev.flotilla.engine.Update;
import dev.flotilla.memory.TensorScope;
import java.util.concurrent.atomic.AtomicLong;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

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

  /** Copies all values into a flat tensor. */
  void readInto(Tensor flat) {
    try (var _ = TensorScope.open()) {
      flat.narrow(0, 0, parameters.numel()).copy_(parameters);
      flat.narrow(0, parameters.numel(), statistics.numel()).copy_(statistics);
      if (policy == MomentumPolicy.AVERAGE) {
        var walk = new OptimizerMemory.Walk(flat, memoryOffset());
        update.remember(OptimizerMemory.read(walk::store));
      }
    }
  }

  /** Writes all values less those of one flat tensor into another. */
  void readLess(Tensor base, Tensor flat) {
    if (policy == MomentumPolicy.AVERAGE) {
      readInto(flat);
      flat.sub_(base);
      return;
    }
    try (var _ = TensorScope.open()) {
      subtract(parameters, base, flat, 0);
      subtract(statistics, base, flat, parameters.numel());
    }
  }

  private static void subtract(Tensor values, Tensor base, Tensor flat, long from) {
    long length = values.numel();
    torch.sub_out(flat.narrow(0, from, length), values, base.narrow(0, from, length));
  }

  /** Replaces all values by those of a flat tensor. */
  void writeFrom(Tensor flat) {
    try (var _ = TensorScope.open()) {
      parameters.copy_(flat.narrow(0, 0, parameters.numel()));
      statistics.copy_(flat.narrow(0, parameters.numel(), statistics.numel()));
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
