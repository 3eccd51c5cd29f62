package dev.flotilla.memory;

import dev.flotilla.world.Platform;

/**
 * Arithmetic of single numbers with the rounding of libtorch's own loops, where results must have
 * the same bits whoever computes them.
 */
public final class LibtorchArithmetic {

  /** libtorch's compiler fuses a product and a sum where every processor of the kind can. */
  private static final boolean FUSES = Platform.here() == Platform.LINUX_ARM64;

  private LibtorchArithmetic() {}

  /** Returns a b + c, rounded once on arm64 and twice on x86-64. */
  public static float multiplyAdd(float a, float b, float c) {
    return FUSES ? Math.fma(a, b, c) : a * b + c;
  }
}
