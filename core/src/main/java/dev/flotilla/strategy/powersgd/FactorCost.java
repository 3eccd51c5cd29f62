package dev.flotilla.strategy.powersgd;

import dev.flotilla.arena.Layout;
import java.util.Locale;

/**
 * What an update sends, densely and as factors.
 *
 * <p>A ring passes 2 (N − 1) / N times the bytes on per rank, of all n m elements or of r (n + m)
 * for each matrix. Both grow alike with the ranks, so there is no number of them at which
 * compression ceases to pay.
 *
 * @param ranks N
 * @param matrices parameters that are sent as factors
 * @param elements elements of all parameters
 * @param sent elements of all factors, and of the parameters that are sent as they are
 * @param bytesEach size of an element
 */
record FactorCost(int ranks, int matrices, long elements, long sent, int bytesEach) {

  static FactorCost of(Layout layout, PowerSgd settings, int ranks) {
    int matrices = 0;
    long elements = 0;
    long sent = 0;
    for (var slot : layout.slots()) {
      var shape = FactorShape.of(slot, settings);
      matrices += shape.isPresent() ? 1 : 0;
      elements += slot.length();
      sent += shape.map(it -> (long) it.first() + it.second()).orElse(slot.length());
    }
    return new FactorCost(ranks, matrices, elements, sent, layout.precision().bytes());
  }

  private double ring(long count) {
    return 2.0 * (ranks - 1) / ranks * count * bytesEach;
  }

  /** Returns the bytes that a rank sends without compression. */
  double denseBytes() {
    return ring(elements);
  }

  /** Returns the bytes that a rank sends with it. */
  double sentBytes() {
    return ring(sent);
  }

  /** Returns how many times fewer bytes are sent. */
  double ratio() {
    return (double) elements / sent;
  }

  boolean pays() {
    return sent < elements;
  }

  /** Returns the numbers for people. */
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "each of %d ranks sends %,.1f kB per update instead of %,.1f kB",
        ranks,
        sentBytes() / 1e3,
        denseBytes() / 1e3);
  }
}
