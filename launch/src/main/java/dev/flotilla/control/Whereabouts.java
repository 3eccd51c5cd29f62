package dev.flotilla.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Puts into one sentence who is where, and who is missing. */
public final class Whereabouts {

  /**
   * One rank.
   *
   * @param place where it is, or was last seen
   * @param isGone whether its process has ended
   * @param silence how long nothing was heard of it; zero where that is nothing unusual
   */
  public record Seen(RankPlace place, boolean isGone, Duration silence) {

    private boolean isMissing() {
      return isGone || silence.isPositive();
    }
  }

  private Whereabouts() {}

  /** Returns the sentence, those first who wait for the others. */
  public static String sentence(List<Seen> ranks) {
    var groups = new LinkedHashMap<String, List<Integer>>();
    ranks.stream().filter(it -> isWaiting(it)).forEach(it -> add(groups, it));
    ranks.stream().filter(it -> !isWaiting(it)).forEach(it -> add(groups, it));
    return groups.entrySet().stream()
        .map(group -> clause(group.getKey(), group.getValue()))
        .collect(Collectors.joining("; "));
  }

  private static boolean isWaiting(Seen rank) {
    return !rank.isMissing() && rank.place().waits();
  }

  private static void add(Map<String, List<Integer>> groups, Seen rank) {
    groups.computeIfAbsent(predicate(rank), _ -> new ArrayList<>()).add(rank.place().rank());
  }

  private static String clause(String predicate, List<Integer> ranks) {
    String numbers = ranks.stream().map(String::valueOf).collect(Collectors.joining(","));
    return ranks.size() == 1
        ? "rank %s %s".formatted(numbers, predicate)
        : "ranks %s %s".formatted(numbers, plural(predicate));
  }

  private static String plural(String predicate) {
    int blank = predicate.indexOf(' ');
    String verb =
        switch (predicate.substring(0, blank)) {
          case "waits" -> "wait";
          case "was" -> "were";
          default -> "are";
        };
    return verb + predicate.substring(blank);
  }

  private static String predicate(Seen rank) {
    RankPlace place = rank.place();
    if (rank.isGone()) {
      return "was last seen " + where(place);
    }
    if (rank.isMissing()) {
      return "was last seen %s, silent for %d s"
          .formatted(where(place), rank.silence().toSeconds());
    }
    return place.waits() ? "waits " + where(place) : "is outside of collectives, " + where(place);
  }

  private static String where(RankPlace place) {
    if (place.waits()) {
      return "in " + place.collective();
    }
    return place.sequence() == 0
        ? RankPlace.at(place.progress())
        : "%s, after %s #%d"
            .formatted(RankPlace.at(place.progress()), place.operation(), place.sequence());
  }

  /** Returns the first collective in which ranks did different things, if there is one. */
  public static Optional<String> difference(SortedMap<Integer, List<CollectiveEntry>> rings) {
    var bySequence = new LinkedHashMap<Long, Map<Integer, CollectiveEntry>>();
    rings.forEach(
        (rank, ring) ->
            ring.forEach(
                entry ->
                    bySequence
                        .computeIfAbsent(entry.sequence(), _ -> new LinkedHashMap<>())
                        .put(rank, entry)));
    return new TreeSet<>(bySequence.keySet())
        .stream()
            .flatMap(it -> difference(it, bySequence.getOrDefault(it, Map.of())).stream())
            .findFirst();
  }

  private static Optional<String> difference(long sequence, Map<Integer, CollectiveEntry> ranks) {
    Map.Entry<Integer, CollectiveEntry> first = ranks.entrySet().iterator().next();
    return ranks.entrySet().stream()
        .filter(it -> !it.getValue().isLike(first.getValue()))
        .findFirst()
        .map(
            it ->
                "the ranks part ways at #%d: rank %d has %s, rank %d has %s"
                    .formatted(
                        sequence,
                        first.getKey(),
                        first.getValue().what(),
                        it.getKey(),
                        it.getValue().what()));
  }
}
