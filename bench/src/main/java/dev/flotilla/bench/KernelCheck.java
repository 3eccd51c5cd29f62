package dev.flotilla.bench;

import dev.flotilla.memory.NativeLibraries;

/**
 * Compares our kernels with libtorch's operations in float64, gradients too: odd widths, one row,
 * rows that nothing is left of, and 2³¹ elements. Needs one GPU.
 */
final class KernelCheck {

  private KernelCheck() {}

  /** Runs all checks, prints a line for each, and ends with 1 if one fails. */
  public static void main(String[] args) {
    NativeLibraries.load();
    var verdicts = new Verdicts();
    all(verdicts);
    System.exit(verdicts.failures() == 0 ? 0 : 1);
  }

  static void all(Verdicts verdicts) {
    new StreamCheck(verdicts).all();
    new GeluCheck(verdicts).all();
    new ProductCheck(verdicts).all();
  }
}
