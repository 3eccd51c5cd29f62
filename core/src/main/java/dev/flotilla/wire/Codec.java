package dev.flotilla.wire;

import org.bytedeco.pytorch.Tensor;

/** Writes float32 numbers with fewer bits, into rows of bytes. */
public interface Codec {

  /**
   * Returns the codec of a type.
   *
   * @throws IllegalArgumentException for float32, which needs none
   */
  static Codec of(Dtype dtype) {
    return switch (dtype) {
      case FP32 -> throw new IllegalArgumentException("fp32 travels as it is");
      case BF16, FP16 -> new HalfCodec(dtype);
      case INT8 -> new IntegerCodec(8);
      case INT4 -> new IntegerCodec(4);
    };
  }

  /** Returns how many numbers are coded together; only multiples of it can be coded. */
  long unit();

  /** Returns the bytes of a row that holds so many numbers. */
  long bytes(long numbers);

  /** Writes numbers into a row, which may have room for more; leaves the numbers changed. */
  void encode(Tensor numbers, Tensor row);

  /** Reads as many numbers as the target holds. */
  void decode(Tensor row, Tensor numbers);

  /** Tells whether so much is lost that it must be added to what is coded next. */
  boolean needsFeedback();
}
