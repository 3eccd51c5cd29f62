package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Collects what is wrong with a recipe, and reports it in the order of reading. */
final class Problems {

  private static final int MOST = 100;

  private final Set<Found> found = new LinkedHashSet<>();

  private record Found(Place place, Problem problem) {}

  void add(Place place, String key, String message) {
    add(place, key, message, "");
  }

  void add(Place place, String key, String message, String fix) {
    found.add(new Found(place, new Problem(place.text(), Text.shown(key), message, fix)));
  }

  void addAll(Problems others) {
    found.addAll(others.found);
  }

  boolean isEmpty() {
    return found.isEmpty();
  }

  /**
   * Ends the reading.
   *
   * @throws ConfigException with all problems, if there are any
   */
  void orThrow() {
    if (!found.isEmpty()) {
      throw new ConfigException(limited(inOrder()));
    }
  }

  private List<Problem> inOrder() {
    return found.stream().sorted(Comparator.comparing(Found::place)).map(Found::problem).toList();
  }

  private static List<Problem> limited(List<Problem> all) {
    if (all.size() <= MOST) {
      return all;
    }
    var first = new ArrayList<>(all.subList(0, MOST));
    String where = all.get(MOST).where();
    first.add(new Problem(where, "", "and " + (all.size() - MOST) + " more problems", ""));
    return first;
  }
}
