package dev.flotilla.collective;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Waits on a keyValueStore until every rank of a group has put up its notice. */
final class Arrival {

  private final KeyValueStore board;
  private final SortedMap<Integer, String> notices = new TreeMap<>();
  private final SortedSet<Integer> missing;

  /** Waits for all ranks of a group. */
  Arrival(KeyValueStore board, int size) {
    this(board, IntStream.range(0, size).boxed().toList());
  }

  /** Waits for some ranks of a group. */
  Arrival(KeyValueStore board, Collection<Integer> ranks) {
    this.board = board;
    this.missing = new TreeSet<>(ranks);
  }

  /** Polls until all are there or the time is up; tells whether all are there. */
  boolean await(Duration timeout) {
    var deadline = Deadline.in(timeout);
    while (!look() && !deadline.hasPassed()) {
      deadline.pause();
    }
    return missing.isEmpty();
  }

  /** Looks once for what was not there before; tells whether all are there. */
  boolean look() {
    for (int rank : List.copyOf(missing)) {
      board.read(key(rank)).ifPresent(notice -> arrived(rank, notice));
    }
    return missing.isEmpty();
  }

  private void arrived(int rank, String notice) {
    missing.remove(rank);
    notices.put(rank, notice);
  }

  static String key(int rank) {
    return "rank/" + rank;
  }

  /** Returns the notices by rank, without those that are missing. */
  SortedMap<Integer, String> byRank() {
    return notices;
  }

  Collection<Integer> missing() {
    return missing;
  }

  /** Returns "rank 3" or "ranks 1, 3". */
  static String name(Collection<Integer> ranks) {
    return (ranks.size() == 1 ? "rank " : "ranks ")
        + ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
