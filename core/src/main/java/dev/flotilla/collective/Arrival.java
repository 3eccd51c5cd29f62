package dev.flotilla.collective;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Waits on a noticeboard until every rank of a group has put up its notice. */
final class Arrival {

  private final Noticeboard board;
  private final int size;
  private final List<Optional<String>> notices;

  Arrival(Noticeboard board, int size) {
    this.board = board;
    this.size = size;
    this.notices = new ArrayList<>(Collections.nCopies(size, Optional.empty()));
  }

  /** Polls until all are there or the time is up; tells whether all are there. */
  boolean await(Duration timeout) {
    var deadline = Deadline.in(timeout);
    look();
    while (!missing().isEmpty() && !deadline.hasPassed()) {
      deadline.pause();
      look();
    }
    return missing().isEmpty();
  }

  /** Looks once for what was not there before. */
  void look() {
    for (int rank = 0; rank < size; rank++) {
      if (notices.get(rank).isEmpty()) {
        notices.set(rank, board.read(key(rank)));
      }
    }
  }

  static String key(int rank) {
    return "rank/" + rank;
  }

  /** Returns the notices by rank, without those that are missing. */
  Map<Integer, String> byRank() {
    var byRank = new TreeMap<Integer, String>();
    for (int rank = 0; rank < size; rank++) {
      int present = rank;
      notices.get(rank).ifPresent(notice -> byRank.put(present, notice));
    }
    return byRank;
  }

  List<Integer> missing() {
    return IntStream.range(0, size).filter(rank -> notices.get(rank).isEmpty()).boxed().toList();
  }

  /** Returns "rank 3" or "ranks 1, 3". */
  static String name(List<Integer> ranks) {
    return (ranks.size() == 1 ? "rank " : "ranks ")
        + ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }
}
