package dev.flotilla.wire;

import dev.flotilla.memory.Tensors;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * Two bytes per number.
 *
 * <p>fp16 ends at 65504 and loses what is below 6·10⁻⁸, so a row is brought into its range by a
 * power of two, whose exponent rides at its end. bf16 has the range of float32 and needs none.
 */
record HalfCodec(Dtype dtype) implements Codec {

  private boolean isScaled() {
    return dtype == Dtype.FP16;
  }

  @Override
  public long unit() {
    return 1;
  }

  @Override
  public long bytes(long numbers) {
    return Short.BYTES * (isScaled() ? numbers + 1 : numbers);
  }

  @Override
  public void encode(Tensor numbers, Tensor row) {
    var halves = row.view(dtype.scalarType());
    if (isScaled()) {
      int exponent = exponent(numbers);
      Tensors.scale(numbers, Math.scalb(1.0, exponent));
      exponentIn(halves).fill_(new Scalar((double) exponent));
    }
    halves.narrow(0, 0, numbers.numel()).copy_(numbers);
  }

  private static int exponent(Tensor numbers) {
    var ends = numbers.aminmax();
    double largest =
        Math.max(Math.abs(ends.get0().item_double()), Math.abs(ends.get1().item_double()));
    return HalfRange.exponentFor(largest);
  }

  private static Tensor exponentIn(Tensor halves) {
    return halves.narrow(0, halves.numel() - 1, 1);
  }

  @Override
  public void decode(Tensor row, Tensor numbers) {
    var halves = row.view(dtype.scalarType());
    numbers.copy_(halves.narrow(0, 0, numbers.numel()));
    if (isScaled()) {
      int exponent = (int) exponentIn(halves).item_double();
      Tensors.scale(numbers, Math.scalb(1.0, -exponent));
    }
  }

  @Override
  public boolean needsFeedback() {
    return false;
  }
}
