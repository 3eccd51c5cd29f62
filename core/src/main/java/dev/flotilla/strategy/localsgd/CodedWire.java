package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.RunState;
import dev.flotilla.wire.Codec;
import dev.flotilla.wire.CodedSum;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/** Sends a vector with fewer bits between replicas; their mean goes as it is inside each. */
final class CodedWire implements MeanWire {

  // Slices are even also where a codec takes any number.
  private static final long SMALLEST_UNIT = 2;

  /** How far a round has come. */
  private enum Stage {
    IDLE,
    SLICES_UNDER_WAY,
    MEANS_UNDER_WAY
  }

  private final Levels levels;
  private final CodedSum sum;
  private final Tensor values;
  private Stage stage = Stage.IDLE;
  private Pending pending = Pending.DONE;
  private @Nullable Tensor vector;

  CodedWire(Levels levels, Codec codec, long length) {
    this.levels = levels;
    long parts = levels.across().size() * Math.max(SMALLEST_UNIT, codec.unit());
    long padded = Math.ceilDiv(length, parts) * parts;
    this.sum = new CodedSum(levels.across(), codec, padded);
    try (var _ = TensorScope.open()) {
      values = TensorScope.keep(Tensors.zeros(torch.ScalarType.Float, padded));
    }
  }

  @Override
  public void start(Tensor whole) {
    vector = whole;
    stage = Stage.SLICES_UNDER_WAY;
    if (!levels.isLeader()) {
      return;
    }
    try (var _ = TensorScope.open()) {
      values.narrow(0, 0, whole.numel()).copy_(whole);
      pending = sum.scatter(values, Traffic.EXCHANGE);
    }
  }

  @Override
  public void advance() {
    if (stage != Stage.SLICES_UNDER_WAY) {
      return;
    }
    stage = Stage.MEANS_UNDER_WAY;
    if (!levels.isLeader()) {
      return;
    }
    pending.await();
    try (var _ = TensorScope.open()) {
      pending = sum.addUp(1.0 / levels.across().size(), Traffic.EXCHANGE);
    }
  }

  @Override
  public void finish() {
    var whole = vector;
    if (whole == null) {
      return;
    }
    advance();
    try (var _ = TensorScope.open()) {
      if (levels.isLeader()) {
        pending.await();
        sum.receive();
        whole.copy_(values.narrow(0, 0, whole.numel()));
      }
      stage = Stage.IDLE;
      vector = null;
      levels.told().broadcast(whole, 0, Traffic.EXCHANGE).await();
    }
  }

  @Override
  public void remember(RunState state) {
    sum.remember(state.own().part("localsgd"));
  }

  @Override
  public void close() {
    sum.close();
    TensorScope.free(values);
  }
}
