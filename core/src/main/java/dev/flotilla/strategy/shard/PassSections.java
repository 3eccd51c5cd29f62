package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Section;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * The sections that passes compute with: gathered before a segment runs, forward and backward, and
 * freed after, but for those that stay.
 *
 * <p>The next segment's are under way while one runs; in forward, those of several small ones that
 * together need no more room than the largest two. Parameters that several segments use stay until
 * the last of them has run. Sections are always gathered in the order of segments in forward and in
 * the opposite order in backward, whatever is recomputed, so that all ranks come to the same
 * collectives, also one that has no batch.
 */
final class PassSections {

  private final GatheredSections sections;
  private final LentSections lent;
  private final SectionUses uses;
  private final int[] reach;
  private final Set<Integer> staying;
  private boolean isAlone;
  private int first = 0;
  private int last = -1;

  /**
   * Takes sections of which nothing is gathered.
   *
   * @param all the same sections
   * @param staying those that are not freed between two uses, but only when an update has changed
   *     them
   */
  PassSections(
      GatheredSections sections, List<Section> all, SectionUses uses, Set<Integer> staying) {
    this.sections = sections;
    this.lent = new LentSections(all);
    this.uses = uses;
    this.reach = uses.reach();
    this.staying = staying;
  }

  /**
   * What a backward leaves depends on what it recomputed at once, and ranks may differ there: from
   * here on only the first segment's parameters are still there, on all of them.
   */
  void beginForward() {
    forget();
    freeUnless(section -> uses.isUsedBy(section, 0));
  }

  /** No segment has been entered. */
  void forget() {
    first = 0;
    last = -1;
  }

  /** Tells whether this rank runs alone, without values. */
  boolean isAlone() {
    return isAlone;
  }

  void enter(int segment) {
    if (isAlone) {
      lent.lend(uses.of(segment));
      return;
    }
    if (first <= segment && segment <= last) {
      return;
    }
    first = segment;
    last = segment;
    sections.bring(uses.of(segment));
    freeUnless(section -> isNeeded(section, true));
    for (int ahead = segment + 1; ahead <= reach[segment]; ahead++) {
      start(ahead);
    }
  }

  void enterBackward(int from, int to) {
    first = from;
    last = to;
    for (int segment = to; segment >= from; segment--) {
      start(segment);
    }
    for (int segment = to; segment >= from; segment--) {
      sections.bring(uses.of(segment));
    }
    freeUnless(section -> isNeeded(section, false));
    start(from - 1);
  }

  private boolean isNeeded(int section, boolean isForward) {
    return uses.isNeeded(section, first, last, isForward);
  }

  void whileAlone(Runnable passes) {
    isAlone = true;
    try {
      passes.run();
    } finally {
      lent.takeBack();
      isAlone = false;
    }
  }

  /** Gathers as a forward pass of other ranks does. */
  void forwardWithoutBatch() {
    beginForward();
    for (int segment = 0; segment < uses.segments(); segment++) {
      enter(segment);
    }
  }

  /** Gathers as a backward pass of other ranks does. */
  void backwardWithoutBatch() {
    for (int segment = uses.segments() - 1; segment >= 0; segment--) {
      enterBackward(segment, segment);
    }
  }

  private void start(int segment) {
    uses.of(segment).forEach(sections::start);
  }

  private void freeUnless(IntPredicate isNeeded) {
    sections.freeUnless(section -> isNeeded.test(section) || staying.contains(section));
  }
}
