package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.RunState;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Sends a vector with fewer bits and sums it in float32, in rank order.
 *
 * <p>Each rank gets one slice of every other's vector, adds up, and sends the coded mean of its
 * slice to all: the volume of an all-reduce. What coding loses on the way in, and on the way out,
 * is kept and added to the next round.
 */
final class CodedWire implements MeanWire {

  /** How far a round has come. */
  private enum Stage {
    IDLE,
    SLICES_UNDER_WAY,
    MEANS_UNDER_WAY
  }

  private final Levels levels;
  private final Collective across;
  private final Codec codec;
  private final long slice;
  private final long sliceBytes;
  private final Tensor values;
  private final Tensor sent;
  private final Tensor received;
  private final @Nullable Tensor lostIn;
  private final @Nullable Tensor lostOut;
  private Stage stage = Stage.IDLE;
  private Pending pending = Pending.DONE;
  private @Nullable Tensor vector;

  CodedWire(Levels levels, Codec codec, long length) {
    this.levels = levels;
    this.across = levels.across();
    this.codec = codec;
    long parts = across.size() * codec.unit();
    this.slice = Math.ceilDiv(length, parts) * codec.unit();
    this.sliceBytes = codec.bytes(slice);
    try (var _ = TensorScope.open()) {
      values = zeros(torch.ScalarType.Float, slice * across.size());
      sent = zeros(torch.ScalarType.Byte, sliceBytes * across.size());
      received = zeros(torch.ScalarType.Byte, sliceBytes * across.size());
      lostIn = codec.needsFeedback() ? zeros(torch.ScalarType.Float, values.numel()) : null;
      lostOut = codec.needsFeedback() ? zeros(torch.ScalarType.Float, slice) : null;
    }
  }

  private static Tensor zeros(torch.ScalarType type, long length) {
    return TensorScope.keep(Tensors.zeros(type, length));
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
      for (int i = 0; i < across.size(); i++) {
        encode(part(values, i), lostIn == null ? null : part(lostIn, i), coded(sent, i));
      }
      pending = across.allToAll(received, sent, Traffic.EXCHANGE);
    }
  }

  private Tensor part(Tensor flat, int index) {
    return flat.narrow(0, index * slice, slice);
  }

  private Tensor coded(Tensor bytes, int index) {
    return bytes.narrow(0, index * sliceBytes, sliceBytes);
  }

  /** Codes values plus what was lost before, and keeps what is lost now. */
  private void encode(Tensor plain, @Nullable Tensor lost, Tensor bytes) {
    try (var _ = TensorScope.open()) {
      if (lost == null) {
        codec.encode(plain, bytes);
        return;
      }
      lost.add_(plain);
      codec.encode(lost, bytes);
      codec.decode(bytes, plain);
      lost.sub_(plain);
    }
  }

  @Override
  public void advance() {
    if (stage != Stage.SLICES_UNDER_WAY) {
      return;
    }
    stage = Stage.MEANS_UNDER_WAY;
    pending.await();
    if (!levels.isLeader()) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var sum = part(values, 0).zero_();
      var term = part(values, 1);
      for (int i = 0; i < across.size(); i++) {
        codec.decode(coded(received, i), term);
        sum.add_(term);
      }
      sum.mul_(new Scalar(1.0 / across.size()));
      var coded = coded(received, 0);
      encode(sum, lostOut, coded);
      pending = across.allGather(sent, coded, Traffic.EXCHANGE);
    }
  }

  @Override
  public void finish() {
    var whole = vector;
    if (whole == null) {
      return;
    }
    advance();
    pending.await();
    pending = Pending.DONE;
    stage = Stage.IDLE;
    vector = null;
    try (var _ = TensorScope.open()) {
      for (int i = 0; levels.isLeader() && i < across.size(); i++) {
        codec.decode(coded(sent, i), part(values, i));
      }
      if (levels.isLeader()) {
        whole.copy_(values.narrow(0, 0, whole.numel()));
      }
      levels.inside().broadcast(whole, 0, Traffic.EXCHANGE).await();
    }
  }

  @Override
  public void remember(RunState state) {
    if (lostIn != null && lostOut != null) {
      state.own().tensor("localsgd/lost_in", lostIn);
      state.own().tensor("localsgd/lost_out", lostOut);
    }
  }

  @Override
  public void close() {
    TensorScope.free(values);
    TensorScope.free(sent);
    TensorScope.free(received);
    TensorScope.free(lostIn);
    TensorScope.free(lostOut);
  }
}
