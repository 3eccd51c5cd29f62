package dev.flotilla.strategy.compress;

import dev.flotilla.arena.Layout;
import java.util.Locale;

/**
 * What an update sends, densely and compressed, by the formulas of the algorithms in use.
 *
 * <p>With n ranks and S bytes of gradients, a ring passes 2 (n − 1) / n · S bytes on per rank; a
 * gather of messages of M bytes (n − 1) · M. So compression sends less while {@code n < 2 S / M}:
 * at sparsity s with 8 bytes per entry and 4 per gradient, {@code n < 1 / (1 − s)}.
 *
 * @param ranks n
 * @param compressedBytes bytes of the parameters that are compressed
 * @param sideBytes bytes of those that are not
 * @param messageBytes M, bytes of a rank's message
 */
record LinkCost(int ranks, long compressedBytes, long sideBytes, long messageBytes) {

  /** Computes the cost of one update with everything in one bucket. */
  static LinkCost of(Layout layout, Dgc settings, double sparsity, int ranks) {
    var division = Division.of(layout, settings.minNumel(), _ -> 0);
    long elements = Division.elements(division.compressed());
    long side = Division.elements(division.dense());
    // Estimated in units of a bucket of a million, as a bucket may have more elements than an int.
    var unit = settings.format(1_000_000, sparsity);
    double perElement = (double) unit.words() * Integer.BYTES / unit.universe();
    long message = Math.round(perElement * elements);
    return new LinkCost(
        ranks, elements * Float.BYTES, side * Float.BYTES, Math.min(message, Long.MAX_VALUE / 2));
  }

  /** Returns the number of gradients. */
  long elements() {
    return (compressedBytes + sideBytes) / Float.BYTES;
  }

  private double ring(long bytes) {
    return 2.0 * (ranks - 1) / ranks * bytes;
  }

  /** Returns the bytes that a rank sends without compression. */
  double denseBytes() {
    return ring(compressedBytes + sideBytes);
  }

  /** Returns the bytes that a rank sends with it. */
  double sparseBytes() {
    return (ranks - 1.0) * messageBytes + ring(sideBytes);
  }

  /** Returns how many times fewer bytes are sent. */
  double ratio() {
    return denseBytes() / sparseBytes();
  }

  /** Returns the number of ranks from which on compression sends more than it saves. */
  double breakEvenRanks() {
    return 2.0 * compressedBytes / messageBytes;
  }

  boolean pays() {
    return sparseBytes() < denseBytes();
  }

  /** Returns the time of a dense exchange over a link. */
  double denseSeconds(double bytesPerSecond) {
    return denseBytes() / bytesPerSecond;
  }

  /** Returns the time of a compressed exchange over a link. */
  double sparseSeconds(double bytesPerSecond) {
    return sparseBytes() / bytesPerSecond;
  }

  /** Returns the numbers for people. */
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "each of %d ranks sends %,.0f kB per update instead of %,.0f kB; break-even at %.0f ranks",
        ranks,
        sparseBytes() / 1e3,
        denseBytes() / 1e3,
        breakEvenRanks());
  }
}
