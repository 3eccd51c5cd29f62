package dev.flotilla.wire;

/** The range of fp16, into which numbers are brought by a power of two that they share. */
public final class HalfRange {

  // The largest number is 65504: the largest of those that share a power comes below half of it.
  private static final int LARGEST_EXPONENT = 14;
  // The reciprocal of 2 to a higher power is no normal number of float32.
  private static final int MOST = 126;

  private HalfRange() {}

  /**
   * Returns the exponent of the power of two that numbers are multiplied by. Numbers that are not
   * finite travel as they are, so that all ranks see them.
   *
   * @param largest the largest magnitude among them
   */
  public static int exponentFor(double largest) {
    return largest == 0 || !Double.isFinite(largest)
        ? 0
        : Math.min(MOST, LARGEST_EXPONENT - Math.getExponent(largest));
  }
}
