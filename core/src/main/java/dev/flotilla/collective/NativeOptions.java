package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import java.time.Duration;
import org.bytedeco.javacpp.chrono.Milliseconds;
import org.bytedeco.pytorch.AllgatherOptions;
import org.bytedeco.pytorch.AllreduceOptions;
import org.bytedeco.pytorch.BarrierOptions;
import org.bytedeco.pytorch.BroadcastOptions;
import org.bytedeco.pytorch.ReduceOp;

/** The native options for one timeout, made once: each of them is native memory. */
final class NativeOptions implements AutoCloseable {

  private final AllreduceOptions sum;
  private final AllreduceOptions max;
  private final BroadcastOptions broadcast;
  private final AllgatherOptions allGather;
  private final BarrierOptions barrier;

  NativeOptions(Duration timeout) {
    try (var _ = TensorScope.open()) {
      var millis = new Milliseconds(timeout.toMillis());
      sum = TensorScope.keep(reduction(ReduceOp.RedOpType.SUM, millis));
      max = TensorScope.keep(reduction(ReduceOp.RedOpType.MAX, millis));
      broadcast = TensorScope.keep(new BroadcastOptions().timeout(millis));
      allGather = TensorScope.keep(new AllgatherOptions().timeout(millis));
      barrier = TensorScope.keep(new BarrierOptions().timeout(millis));
    }
  }

  private static AllreduceOptions reduction(ReduceOp.RedOpType type, Milliseconds timeout) {
    return new AllreduceOptions().reduceOp(new ReduceOp(type)).timeout(timeout);
  }

  AllreduceOptions of(Reduction reduction) {
    return switch (reduction) {
      case SUM -> sum;
      case MAX -> max;
    };
  }

  /** Returns the options for a root; native code copies them when an operation starts. */
  BroadcastOptions from(int root) {
    return broadcast.rootRank(root);
  }

  AllgatherOptions allGather() {
    return allGather;
  }

  BarrierOptions barrier() {
    return barrier;
  }

  @Override
  public void close() {
    TensorScope.free(sum);
    TensorScope.free(max);
    TensorScope.free(broadcast);
    TensorScope.free(allGather);
    TensorScope.free(barrier);
  }
}
