package dev.flotilla.strategy.compress;

/** How values travel. */
public enum Values {
  /** As they are. */
  FP32,
  /** In 16 bits, with a common power of two; what rounding takes away stays in the residual. */
  FP16
}
