package dev.flotilla.collective;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Says in words where the facts of several ranks differ. */
final class Disagreement {

  private static final int MOST_FACTS = 10;
  private static final int LONGEST_VALUE = 80;
  private static final String NONE = "no such value";

  private final TreeMap<Integer, Facts> factsByRank;

  Disagreement(Map<Integer, Facts> factsByRank) {
    this.factsByRank = new TreeMap<>(factsByRank);
  }

  boolean exists() {
    return factsByRank.values().stream().map(Facts::fingerprint).distinct().count() > 1;
  }

  /** Returns one clause per fact that differs, at most ten. */
  String describe() {
    var differing = names().stream().filter(this::differs).toList();
    var clauses = differing.stream().limit(MOST_FACTS).map(this::clause).toList();
    var text = String.join("; ", clauses);
    return differing.size() <= MOST_FACTS
        ? text
        : text + "; and %d more".formatted(differing.size() - MOST_FACTS);
  }

  private Set<String> names() {
    var names = new LinkedHashSet<String>();
    factsByRank.values().forEach(facts -> names.addAll(facts.statements().keySet()));
    return names;
  }

  private boolean differs(String name) {
    return ranksByValue(name).size() > 1;
  }

  private Map<String, List<Integer>> ranksByValue(String name) {
    var ranks = new LinkedHashMap<String, List<Integer>>();
    factsByRank.forEach(
        (rank, facts) ->
            ranks.computeIfAbsent(value(facts, name), _ -> new ArrayList<>()).add(rank));
    return ranks;
  }

  private static String value(Facts facts, String name) {
    return facts.statements().containsKey(name) ? "= " + facts.statements().get(name) : NONE;
  }

  /** Returns "rank 0 on hostA has lr = 0.05, ranks 1, 2 on hostB have 0.01". */
  private String clause(String name) {
    var sides = new ArrayList<String>();
    ranksByValue(name)
        .forEach((value, ranks) -> sides.add(side(ranks, sides.isEmpty() ? name : "", value)));
    return String.join(", ", sides);
  }

  private String side(List<Integer> ranks, String name, String value) {
    var verb = ranks.size() == 1 ? "has" : "have";
    return "%s on %s %s %s".formatted(Arrival.name(ranks), hosts(ranks), verb, words(name, value));
  }

  private static String words(String name, String value) {
    var shortened =
        value.length() <= LONGEST_VALUE ? value : value.substring(0, LONGEST_VALUE) + "…";
    if (value.equals(NONE)) {
      return name.isEmpty() ? NONE : "no " + name;
    }
    return name.isEmpty() ? shortened.substring(2) : name + " " + shortened;
  }

  private String hosts(List<Integer> ranks) {
    return factsByRank.entrySet().stream()
        .filter(entry -> ranks.contains(entry.getKey()))
        .map(entry -> entry.getValue().host())
        .distinct()
        .collect(Collectors.joining(", "));
  }
}
