package dev.flotilla.strategy.localsgd;

import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * One byte or half of one per number, and a float32 scale for every 256 of them.
 *
 * <p>q = round(v / s) with s the largest magnitude of the 256 divided by 127, or by 7.
 */
record IntegerCodec(int bits) implements Codec {

  private static final long BLOCK = 256;
  private static final double SMALLEST_SCALE = 1e-30;

  @Override
  public long unit() {
    return 2 * BLOCK;
  }

  @Override
  public long bytes(long elements) {
    return payload(elements) + elements / BLOCK * Float.BYTES;
  }

  private long payload(long elements) {
    return elements * bits / Byte.SIZE;
  }

  private int largest() {
    return (1 << (bits - 1)) - 1;
  }

  @Override
  public void encode(Tensor values, Tensor bytes) {
    var blocks = values.view(-1, BLOCK);
    var scale = blocks.abs().amax(new long[] {1}, true).mul_(new Scalar(1.0 / largest()));
    scale.clamp_min_(new Scalar(SMALLEST_SCALE));
    scales(bytes, values.numel()).copy_(scale);
    var whole = blocks.div(scale).round_().view(-1);
    var place = bytes.narrow(0, 0, payload(values.numel()));
    if (bits == Byte.SIZE) {
      place.view(torch.ScalarType.Char).copy_(whole);
    } else {
      var pairs = whole.add_(new Scalar(1.0 + largest())).to(torch.ScalarType.Byte).view(-1, 2);
      place.copy_(pairs.select(1, 1).mul(new Scalar(16)).add_(pairs.select(1, 0)));
    }
  }

  @Override
  public void decode(Tensor bytes, Tensor values) {
    var place = bytes.narrow(0, 0, payload(values.numel()));
    if (bits == Byte.SIZE) {
      values.copy_(place.view(torch.ScalarType.Char));
    } else {
      var pairs = values.view(-1, 2);
      pairs.select(1, 0).copy_(place.bitwise_and(new Scalar(15)));
      pairs.select(1, 1).copy_(place.bitwise_right_shift(new Scalar(4)));
      values.sub_(new Scalar(1.0 + largest()));
    }
    values.view(-1, BLOCK).mul_(scales(bytes, values.numel()));
  }

  private Tensor scales(Tensor bytes, long elements) {
    return bytes
        .narrow(0, payload(elements), elements / BLOCK * Float.BYTES)
        .view(torch.ScalarType.Float)
        .view(-1, 1);
  }

  @Override
  public boolean needsFeedback() {
    return true;
  }
}
