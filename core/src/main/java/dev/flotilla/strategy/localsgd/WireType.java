package dev.flotilla.strategy.localsgd;

/** Number types of what ranks send when they average: always differences since the last average. */
public enum WireType {
  /** The parameters' own type. */
  FP32,
  /** Half of the bytes, with the range of float32. */
  BF16,
  /** Half of the bytes, with three more bits of precision and less range. */
  FP16,
  /** A quarter of the bytes; the rounding error is added to the next round. */
  INT8,
  /** An eighth of the bytes; the rounding error is added to the next round. */
  INT4
}
