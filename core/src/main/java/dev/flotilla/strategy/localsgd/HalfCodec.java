package dev.flotilla.strategy.localsgd;


import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/** Two bytes per number. */
record HalfCodec(torch.ScalarType type) implements Codec {

  @Override
  public long unit() {
    return 2;
  }

  @Override
  public long bytes(long elements) {
    return 2 * elements;
  }

  @Override
  public void encode(Tensor values, Tensor bytes) {
    bytes.view(type).copy_(values);
  }

  @Override
  public void decode(Tensor bytes, Tensor values) {
    values.copy_(bytes.view(type));
  }

  @Override
  public boolean needsFeedback() {
    return false;
  }
}
