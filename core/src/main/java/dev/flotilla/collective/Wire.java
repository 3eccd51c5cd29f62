package dev.flotilla.collective;

import org.bytedeco.pytorch.global.torch;

/** The number type in which numbers travel between ranks; sums are taken in float32 always. */
public enum Wire {
  /** As they are. */
  FP32,
  /** Half the bytes: the range of float32, 8 bits of precision. */
  BF16,
  /** Half the bytes: 11 bits of precision, scaled by a power of two so that nothing overflows. */
  FP16;

  /** Tells whether numbers are rounded on their way. */
  public boolean isHalf() {
    return this != FP32;
  }

  torch.ScalarType scalarType() {
    return switch (this) {
      case FP32 -> torch.ScalarType.Float;
      case BF16 -> torch.ScalarType.BFloat16;
      case FP16 -> torch.ScalarType.Half;
    };
  }
}
