package dev.flotilla.strategy.localsgd;

import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.wire.Codec;
import dev.flotilla.wire.Dtype;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/** Codes parameters, and sends what else is averaged as it is: it is little or delicate. */
final class SplitWire implements MeanWire {

  private final MeanWire coded;
  private final MeanWire plain;
  private final long parameters;
  private @Nullable Tensor first;
  private @Nullable Tensor rest;

  private SplitWire(MeanWire coded, MeanWire plain, long parameters) {
    this.coded = coded;
    this.plain = plain;
    this.parameters = parameters;
  }

  /** Returns the wire that a setting asks for. */
  static MeanWire of(Dtype dtype, Levels levels, long parameters) {
    var plain = new PlainWire(levels, Traffic.EXCHANGE);
    return dtype == Dtype.FP32 || parameters == 0
        ? plain
        : new SplitWire(new CodedWire(levels, Codec.of(dtype), parameters), plain, parameters);
  }

  @Override
  public void start(Tensor vector) {
    try (var _ = TensorScope.open()) {
      first = TensorScope.keep(vector.narrow(0, 0, parameters));
      rest = TensorScope.keep(vector.narrow(0, parameters, vector.numel() - parameters));
      coded.start(first);
      if (rest.numel() > 0) {
        plain.start(rest);
      }
    }
  }

  @Override
  public void advance() {
    coded.advance();
  }

  @Override
  public void finish() {
    coded.finish();
    plain.finish();
    TensorScope.free(first);
    TensorScope.free(rest);
    first = null;
    rest = null;
  }

  @Override
  public void remember(RunState state) {
    coded.remember(state);
  }

  @Override
  public void close() {
    coded.close();
  }
}
