package dev.flotilla.strategy.localsgd;

import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * A piece of what is averaged: of the parameters, or all that follows them.
 *
 * @param isOfParameters whether it lies among the parameters
 */
record Range(long from, long length, boolean isOfParameters) {

  /** Enough for the wire to be busy while the next piece is prepared. */
  private static final long ELEMENTS = 1 << 20;

  /**
   * Cuts a vector whose first elements are the parameters. On a GPU these are one piece: passes
   * take no time there, and each piece would be copied by itself.
   *
   * @param count number of parameters
   */
  static List<Range> of(long count, long length, boolean isOnGpu) {
    long piece = isOnGpu ? Math.max(1, count) : ELEMENTS;
    List<Range> ranges = new ArrayList<>();
    for (long from = 0; from < count; from += piece) {
      ranges.add(new Range(from, Math.min(piece, count - from), true));
    }
    ranges.add(new Range(count, length - count, false));
    return List.copyOf(ranges);
  }

  /** Returns this piece of a vector, in the current scope. */
  Tensor of(Tensor vector) {
    try (var scope = TensorScope.open()) {
      return scope.handOut(vector.narrow(0, from, length));
    }
  }
}
