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

/** Waits until every rank of a group has set its key in a key-value store. */
final class Arrival {

  private final KeyValueStore store;
  private final SortedMap<Integer, String> values = new TreeMap<>();
  private final SortedSet<Integer> missing;

  /** Waits for all ranks of a group. */
  Arrival(KeyValueStore store, int size) {
    this(store, IntStream.range(0, size).boxed().toList());
  }

  /** Waits for some ranks of a group. */
  Arrival(KeyValueStore store, Collection<Integer> ranks) {
    this.store = store;
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
      store.get(key(rank)).ifPresent(value -> arrived(rank, value));
    }
    return missing.isEmpty();
  }

  private void arrived(int rank, String value) {
    missing.remove(rank);
    values.put(rank, value);
  }

  static String key(int rank) {
    return "rank/" + rank;
  }

  /** Returns the values by rank, without those that are missing. */
  SortedMap<Integer, String> byRank() {
    return values;
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
