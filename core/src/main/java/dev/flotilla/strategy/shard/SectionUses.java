package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Layout;
import dev.flotilla.model.Model;
import dev.flotilla.model.ParameterSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which segments of a model use which sections of its arena: what is needed, and what may be there
 * before it is. All ranks come to the same answers.
 */
final class SectionUses {

  private final List<Long> lengths;
  private final List<List<Integer>> sectionsOf = new ArrayList<>();
  private final List<List<Integer>> segmentsOf = new ArrayList<>();

  SectionUses(Model model, Layout layout, List<Range> sections) {
    lengths = sections.stream().map(Range::length).toList();
    sections.forEach(_ -> segmentsOf.add(new ArrayList<>()));
    Map<String, Integer> sectionOf = new HashMap<>();
    for (var slot : layout.slots()) {
      for (int i = 0; i < sections.size(); i++) {
        if (sections.get(i).holds(slot.range())) {
          sectionOf.put(slot.spec().name(), i);
        }
      }
    }
    for (var segment : model.segments()) {
      var used =
          segment.parameters().stream()
              .map(ParameterSpec::name)
              .filter(sectionOf::containsKey)
              .map(sectionOf::get)
              .distinct()
              .sorted()
              .toList();
      used.forEach(section -> segmentsOf.get(section).add(sectionsOf.size()));
      sectionsOf.add(used);
    }
  }

  int segments() {
    return sectionsOf.size();
  }

  /** Returns the sections of a segment; none where there is no such segment. */
  List<Integer> of(int segment) {
    return segment < 0 || segment >= segments() ? List.of() : sectionsOf.get(segment);
  }

  boolean isUsedBy(int section, int segment) {
    return segmentsOf.get(section).contains(segment);
  }

  /**
   * Tells whether a section stays while some segments run: they use it, or it has several users and
   * one of them is still to run.
   */
  boolean isNeeded(int section, int first, int last, boolean isForward) {
    var users = segmentsOf.get(section);
    return users.stream().anyMatch(it -> first <= it && it <= last)
        || (users.size() > 1 && users.stream().anyMatch(it -> isForward ? it > last : it < first));
  }

  /**
   * Returns how far ahead of each segment a forward pass may gather, as the last segment whose
   * sections may be under way: the next one, and more while all of them together take no more than
   * the largest two neighbours do, whose room is taken anyway.
   */
  int[] reach() {
    long room = 0;
    for (int segment = 0; segment < segments(); segment++) {
      room = Math.max(room, length(segment, segment + 1));
    }
    var reach = new int[segments()];
    for (int segment = 0; segment < reach.length; segment++) {
      int last = Math.min(segment + 1, segments() - 1);
      while (last + 1 < segments() && length(segment, last + 1) <= room) {
        last++;
      }
      reach[segment] = last;
    }
    return reach;
  }

  private long length(int first, int last) {
    Set<Integer> sections = new HashSet<>();
    for (int segment = first; segment <= last; segment++) {
      sections.addAll(of(segment));
    }
    return sections.stream().mapToLong(lengths::get).sum();
  }

  /**
   * Returns sections that stay from one pass to the next: the last ones, which are used again
   * soonest.
   *
   * @param elements how many may stay
   */
  Set<Integer> staying(long elements) {
    Set<Integer> staying = new HashSet<>();
    long left = elements;
    for (int section = lengths.size() - 1; section >= 0; section--) {
      if (lengths.get(section) <= left) {
        staying.add(section);
        left -= lengths.get(section);
      }
    }
    return staying;
  }
}
