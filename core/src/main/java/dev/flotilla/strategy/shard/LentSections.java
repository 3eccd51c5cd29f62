package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Section;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Sections that have memory but no values, while a rank runs alone: what a pass costs does not
 * depend on values, so that no other rank has to send any.
 */
final class LentSections {

  private final List<Section> sections;
  private final Set<Integer> lent = new HashSet<>();

  LentSections(List<Section> sections) {
    this.sections = sections;
  }

  /** Gives memory to sections that have none, and takes back what others were lent. */
  void lend(List<Integer> wanted) {
    for (int section : List.copyOf(lent)) {
      if (!wanted.contains(section)) {
        sections.get(section).free();
        lent.remove(section);
      }
    }
    for (int section : wanted) {
      if (!sections.get(section).isPresent()) {
        sections.get(section).allocate();
        sections.get(section).values().zero_();
        lent.add(section);
      }
    }
  }

  void takeBack() {
    lend(List.of());
  }
}
