package dev.flotilla.wire;

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
  public long bytes(long numbers) {
    return payload(numbers) + numbers / BLOCK * Float.BYTES;
  }

  private long payload(long numbers) {
    return numbers * bits / Byte.SIZE;
  }

  private int largest() {
    return (1 << (bits - 1)) - 1;
  }

  @Override
  public void encode(Tensor numbers, Tensor row) {
    var blocks = numbers.view(-1, BLOCK);
    var scale = blocks.abs().amax(new long[] {1}, true).mul_(new Scalar(1.0 / largest()));
    scale.clamp_min_(new Scalar(SMALLEST_SCALE));
    scales(row, numbers.numel()).copy_(scale);
    var whole = blocks.div(scale).round_().view(-1);
    var place = row.narrow(0, 0, payload(numbers.numel()));
    if (bits == Byte.SIZE) {
      place.view(torch.ScalarType.Char).copy_(whole);
    } else {
      var pairs = whole.add_(new Scalar(1.0 + largest())).to(torch.ScalarType.Byte).view(-1, 2);
      place.copy_(pairs.select(1, 1).mul(new Scalar(16)).add_(pairs.select(1, 0)));
    }
  }

  @Override
  public void decode(Tensor row, Tensor numbers) {
    var place = row.narrow(0, 0, payload(numbers.numel()));
    if (bits == Byte.SIZE) {
      numbers.copy_(place.view(torch.ScalarType.Char));
    } else {
      var pairs = numbers.view(-1, 2);
      pairs.select(1, 0).copy_(place.bitwise_and(new Scalar(15)));
      pairs.select(1, 1).copy_(place.bitwise_right_shift(new Scalar(4)));
      numbers.sub_(new Scalar(1.0 + largest()));
    }
    numbers.view(-1, BLOCK).mul_(scales(row, numbers.numel()));
  }

  private Tensor scales(Tensor row, long numbers) {
    return row.narrow(0, payload(numbers), numbers / BLOCK * Float.BYTES)
        .view(torch.ScalarType.Float)
        .view(-1, 1);
  }

  @Override
  public boolean needsFeedback() {
    return true;
  }
}
