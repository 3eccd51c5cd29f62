package dev.flotilla.train;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Finds the rank that the others wait for.
 *
 * <p>All ranks make the same updates in the same time, and a collective ends on all of them
 * together: whoever works for longer comes later, and waits less. What the wire takes all of them
 * wait for alike.
 */
final class SlowRanks {

  /** A rank is named if it works for so many times as long as half of the others. */
  static final double WORTH_A_NAME = 1.25;

  /** A small difference is nobody's fault, however large it is beside even less work. */
  static final double LEAST_SHARE = 0.1;

  private SlowRanks() {}

  /**
   * A rank that is slower than the others.
   *
   * @param rank which
   * @param times how many times as long as the median of the others it works
   * @param share of the time for which they wait for it
   */
  record Slow(int rank, double times, double share) {}

  /**
   * Returns the slowest rank, if it is worth a name.
   *
   * @param waited for each rank the share of the time for which it has waited
   */
  static Optional<Slow> in(double... waited) {
    var worked = Arrays.stream(waited).map(share -> 1 - Math.clamp(share, 0.0, 1.0)).toArray();
    int slowest =
        IntStream.range(0, worked.length)
            .reduce((a, b) -> worked[b] > worked[a] ? b : a)
            .orElseThrow();
    var others =
        IntStream.range(0, worked.length)
            .filter(rank -> rank != slowest)
            .mapToDouble(rank -> worked[rank])
            .sorted()
            .toArray();
    if (others.length == 0) {
      return Optional.empty();
    }
    double median = others[others.length / 2];
    double share = worked[slowest] - median;
    double times = worked[slowest] / Math.max(median, 0.01);
    return share >= LEAST_SHARE && times >= WORTH_A_NAME
        ? Optional.of(new Slow(slowest, times, share))
        : Optional.empty();
  }
}
