package dev.flotilla.strategy.localsgd;

import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Two bytes per number.
 *
 * <p>fp16 ends at 65,504 and loses what is below 6·10⁻⁸, so a slice is brought into its range by a
 * power of two, which rides behind it. bf16 has the range of float32.
 */
record HalfCodec(boolean isBrain) implements Codec {

  private static final int LARGEST_EXPONENT = 14;

  // 2 to this power is the largest power of two in float32.
  private static final int MOST = 126;

  private torch.ScalarType type() {
    return isBrain ? torch.ScalarType.BFloat16 : torch.ScalarType.Half;
  }

  @Override
  public long unit() {
    return 2;
  }

  @Override
  public long bytes(long elements) {
    return 2 * elements + (isBrain ? 0 : Float.BYTES);
  }

  @Override
  public void encode(Tensor values, Tensor bytes) {
    var place = bytes.narrow(0, 0, 2 * values.numel()).view(type());
    if (isBrain) {
      place.copy_(values);
      return;
    }
    double factor = Math.scalb(1.0, exponent(values));
    place.copy_(values.mul(new Scalar(factor)));
    factor(values, bytes).fill_(new Scalar(1 / factor));
  }

  /** Numbers that are not finite travel as they are, so that all ranks see them. */
  private static int exponent(Tensor values) {
    double largest = values.abs().max().item_double();
    return largest == 0 || !Double.isFinite(largest)
        ? 0
        : Math.min(MOST, LARGEST_EXPONENT - Math.getExponent(largest));
  }

  private static Tensor factor(Tensor values, Tensor bytes) {
    return bytes.narrow(0, 2 * values.numel(), Float.BYTES).view(torch.ScalarType.Float);
  }

  @Override
  public void decode(Tensor bytes, Tensor values) {
    values.copy_(bytes.narrow(0, 0, 2 * values.numel()).view(type()));
    if (!isBrain) {
      values.mul_(factor(values, bytes));
    }
  }

  @Override
  public boolean needsFeedback() {
    return false;
  }
}
