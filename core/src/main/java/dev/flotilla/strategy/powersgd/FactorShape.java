package dev.flotilla.strategy.powersgd;

import dev.flotilla.arena.Slot;
import java.util.Optional;

/**
 * The sizes of a matrix and its two factors.
 *
 * @param rows n
 * @param columns m, the product of all extents but the first
 * @param rank r, at most n and m
 */
record FactorShape(int rows, int columns, int rank) {

  /** Returns the sizes for a parameter, or nothing where factors are not worth it. */
  static Optional<FactorShape> of(Slot slot, PowerSgd settings) {
    var extents = slot.spec().shape().dimensions();
    if (extents.size() < 2 || slot.length() == 0) {
      return Optional.empty();
    }
    long rows = extents.getFirst();
    long columns = slot.length() / rows;
    long rank = Math.min(settings.rank(), Math.min(rows, columns));
    boolean isWorthIt = slot.length() >= settings.minCompression() * rank * (rows + columns);
    return isWorthIt
        ? Optional.of(new FactorShape(Math.toIntExact(rows), Math.toIntExact(columns), (int) rank))
        : Optional.empty();
  }

  /** Returns the elements of P. */
  int first() {
    return Math.multiplyExact(rank, rows);
  }

  /** Returns the elements of Q. */
  int second() {
    return Math.multiplyExact(rank, columns);
  }
}
