package dev.flotilla.wire;

import java.util.Locale;
import org.bytedeco.pytorch.global.torch;

/**
 * A number type for numbers that are float32 where they are kept: on the wire, or in a forward pass
 * of mixed precision. A technique says which of them it takes.
 */
public enum Dtype {
  /** As they are. */
  FP32,
  /** Half the bytes: the range of float32, 8 bits of precision. */
  BF16,
  /** Half the bytes: 11 bits of precision, but nothing above 65504 and little below 6e-8. */
  FP16,
  /** A quarter of the bytes, and a scale for every 256 numbers. */
  INT8,
  /** An eighth of the bytes, and a scale for every 256 numbers. */
  INT4;

  /** Tells whether this is a floating-point type of 16 bits. */
  public boolean isHalf() {
    return this == BF16 || this == FP16;
  }

  /** Returns the word for it in recipes and in what people read. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns libtorch's type of the same numbers.
   *
   * @throws IllegalStateException for integers, which mean nothing without their scales
   */
  public torch.ScalarType scalarType() {
    return switch (this) {
      case FP32 -> torch.ScalarType.Float;
      case BF16 -> torch.ScalarType.BFloat16;
      case FP16 -> torch.ScalarType.Half;
      case INT8, INT4 -> throw new IllegalStateException(word() + " is no type of libtorch's");
    };
  }
}
