package dev.flotilla.collective;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * Turns float32 into 16 bits and back.
 *
 * <p>fp16 ends at 65504, so the largest number of a row is brought to between 2^14 and 2^15 by a
 * power of two, whose exponent rides behind the row. bf16 has the range of float32 and needs none.
 */
final class HalfCode implements AutoCloseable {

  private static final int LARGEST_EXPONENT = 14;
  // 2 to this power is the largest power of two in float32.
  private static final int MOST = 126;

  private final boolean isScaled;
  private final Tensor scratch;

  /** Prepares for rows of at most so many numbers. */
  HalfCode(Wire wire, long longest) {
    isScaled = wire == Wire.FP16;
    scratch = TensorScope.keep(Tensors.zeros(torch.ScalarType.Float, Math.max(1, longest)));
  }

  /** Returns the length of a row that holds so many numbers. */
  long length(long numbers) {
    return isScaled ? numbers + 1 : numbers;
  }

  /** Writes numbers into a row that may be longer. */
  void encode(Tensor numbers, Tensor row) {
    if (numbers.numel() == 0) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var place = row.narrow(0, 0, numbers.numel());
      if (!isScaled) {
        place.copy_(numbers);
        return;
      }
      int exponent = exponent(numbers);
      var scaled = scratch.narrow(0, 0, numbers.numel());
      scaled.copy_(numbers);
      Tensors.scale(scaled, Math.scalb(1.0, exponent));
      place.copy_(scaled);
      row.narrow(0, row.numel() - 1, 1).fill_(new Scalar((double) exponent));
    }
  }

  /** Numbers that are not finite travel as they are, so that all ranks see them. */
  private static int exponent(Tensor numbers) {
    var ends = numbers.aminmax();
    double largest =
        Math.max(Math.abs(ends.get0().item_double()), Math.abs(ends.get1().item_double()));
    if (largest == 0 || !Double.isFinite(largest)) {
      return 0;
    }
    return Math.min(MOST, LARGEST_EXPONENT - Math.getExponent(largest));
  }

  /** Reads as many numbers as the target holds, and writes them there or adds them. */
  void decode(Tensor row, Tensor target, boolean adds) {
    if (target.numel() == 0) {
      return;
    }
    try (var _ = TensorScope.open()) {
      var place = row.narrow(0, 0, target.numel());
      var numbers = adds ? scratch.narrow(0, 0, target.numel()) : target;
      numbers.copy_(place);
      if (isScaled) {
        double exponent = row.narrow(0, row.numel() - 1, 1).item_double();
        Tensors.scale(numbers, Math.scalb(1.0, -(int) exponent));
      }
      if (adds) {
        target.add_(numbers);
      }
    }
  }

  @Override
  public void close() {
    TensorScope.free(scratch);
  }
}
