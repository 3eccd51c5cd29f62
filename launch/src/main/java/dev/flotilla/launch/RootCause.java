package dev.flotilla.launch;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Decides which of several failures brought the others about. */
final class RootCause {

  private static final Comparator<RankEnd> LIKELIEST_FIRST =
      Comparator.comparing(RankEnd::isConsequence)
          .thenComparing(RankEnd::time)
          .thenComparingInt(RankEnd::rank);

  private RootCause() {}

  /**
   * Returns the earliest failure that is no consequence of another, or else the earliest one.
   *
   * @param ends how ranks ended
   * @param stop when the launcher began to stop the ranks; what ended through that is no failure
   */
  static Optional<RankEnd> of(List<RankEnd> ends, Instant stop) {
    return ends.stream().filter(end -> end.failedBefore(stop)).min(LIKELIEST_FIRST);
  }
}
