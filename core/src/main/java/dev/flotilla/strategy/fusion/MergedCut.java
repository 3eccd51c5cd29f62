package dev.flotilla.strategy.fusion;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.collective.Link;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts so that the last bucket arrives as early as possible (Shi, Chu and Li, 2019, "MG-WFBP:
 * Efficient Data Communication for Distributed Synchronous SGD Algorithms").
 *
 * <p>A bucket i of Sᵢ bytes takes a + c Sᵢ, starts when the one before has arrived and its own last
 * gradient is ready: eᵢ = max(eᵢ₋₁, rᵢ) + a + c Sᵢ. The paper merges a gradient into the next where
 * waiting for it costs less than the latency that is saved; here all cuts are weighed, which is
 * never worse: E(j) = min over {@code i < j} of max(E(i), rⱼ) + a + c (S(j) − S(i)), in time L² for
 * L layers.
 *
 * @param link a and c
 */
record MergedCut(Link link) {

  /**
   * A cut and what it promises.
   *
   * @param ranges in the order of backward
   * @param end seconds from the start of backward to the arrival of the last bucket
   */
  record Cut(List<Range> ranges, double end) {}

  /**
   * Finds the best cut.
   *
   * @param pieces in the order of backward
   * @param ready seconds from the start of backward until each piece is complete
   * @param width bytes per element
   */
  Cut cut(List<Piece> pieces, double[] ready, int width) {
    int count = pieces.size();
    var bytes = new double[count + 1];
    var end = new double[count + 1];
    var from = new int[count + 1];
    for (int j = 1; j <= count; j++) {
      bytes[j] = bytes[j - 1] + (double) pieces.get(j - 1).range().length() * width;
      end[j] = Double.POSITIVE_INFINITY;
      for (int i = 0; i < j; i++) {
        double candidate = arrival(end[i], ready[j - 1], bytes[j] - bytes[i]);
        // Of equal ones the first, which makes the fewest ranges.
        if (candidate < end[j]) {
          end[j] = candidate;
          from[j] = i;
        }
      }
    }
    return new Cut(traced(pieces, from), end[count]);
  }

  private double arrival(double before, double ready, double bytes) {
    return Math.max(before, ready) + link.allReduce(bytes);
  }

  private static List<Range> traced(List<Piece> pieces, int[] from) {
    List<Range> ranges = new ArrayList<>();
    for (int j = pieces.size(); j > 0; j = from[j]) {
      ranges.add(Piece.together(pieces.subList(from[j], j)));
    }
    return List.copyOf(ranges.reversed());
  }
}
