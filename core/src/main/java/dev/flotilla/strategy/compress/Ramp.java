package dev.flotilla.strategy.compress;

import java.util.List;

/**
 * How sparse the exchange is at each update: dense at first, then step by step sparser.
 *
 * <p>At update t ≥ T₀ the sparsity is S[min(⌊(t − T₀) · L / R⌋, L − 1)], with L the length of S.
 *
 * @param begin T₀, the first update that is compressed
 * @param steps R, updates over which the list is walked
 * @param sparsity S, fractions of the gradient that are not sent
 */
record Ramp(long begin, long steps, List<Double> sparsity) {

  private static final double ROUNDING = 1e-6;

  Ramp {
    sparsity = List.copyOf(sparsity);
  }

  boolean isDense(long update) {
    return update < begin;
  }

  /** Returns the fraction that is not sent in a compressed update. */
  double sparsityAt(long update) {
    long index = Math.multiplyExact(update - begin, sparsity.size()) / steps;
    return sparsity.get((int) Math.min(index, sparsity.size() - 1L));
  }

  /** Returns the smallest fraction that is ever held back; it asks for the largest messages. */
  double least() {
    return sparsity.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
  }

  /** Returns the fraction that is held back in the end. */
  double last() {
    return sparsity.getLast();
  }

  /** Returns how many of so many elements are sent: ⌊n (1 − s)⌋, but one at least. */
  static int kept(long elements, double sparsity) {
    // 1 - 0.9 is a little less than 0.1 in binary; the rounding gives the element back.
    double sent = elements * (1 - sparsity) + ROUNDING;
    return Math.toIntExact(Math.max(Math.min(1, elements), (long) sent));
  }
}
