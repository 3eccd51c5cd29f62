package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.KeptSlices;
import dev.flotilla.arena.Layout;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Section;
import dev.flotilla.collective.Traffic;
import dev.flotilla.pass.ParameterGate;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.step.Sync;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Gathers the parameters of a segment before it runs, forward and backward, and frees them after:
 * between, only the slices of all ranks hold them.
 *
 * <p>The next segment's are under way while one runs; in forward, those of several small ones that
 * together need no more room than the largest two. Parameters that several segments use stay until
 * the last of them has run. Sections are always gathered in the order of segments in forward and in
 * the opposite order in backward, whatever is recomputed, so that all ranks come to the same
 * collectives, also one that has no batch. They have a process group of their own.
 *
 * <p>Sends (n − 1) / n of the parameters' bytes per rank in forward, and again in backward.
 *
 * <p>What passes compute with may be 16-bit copies. Then there are two sets of sections: the
 * copies, which it gathers and frees, and the parameters themselves, which are gathered for readers
 * alone. Copies that always stay are gathered anew after each update, while the next forward
 * begins.
 */
final class SegmentGather implements Sync, ParameterGate {

  private static final int NONE = -1;

  private final ParameterArena arena;
  private final KeptSlices kept;
  private final OwnSlices own;
  private final GatheredSections sections;
  // Those of the parameters themselves; the same unless passes compute with copies.
  private final GatheredSections masters;
  private final LentSections lent;
  private final SectionUses uses;
  private final int[] reach;
  // Sections that are not freed between two uses, but only when an update has changed them.
  private final Set<Integer> staying;
  private final boolean areResident;
  // The section that is there for a reader alone.
  private int entered = NONE;
  private boolean isAlone;
  private boolean isWhole;
  private int first = 0;
  private int last = -1;

  /**
   * Gathers in a group of its own.
   *
   * @param keptBytes how much may stay gathered from one use to the next
   * @param areResident whether all of it always does
   */
  SegmentGather(
      StepContext context, Slicing slicing, OwnSlices own, long keptBytes, boolean areResident) {
    var all = context.peers();
    var group = all.size() == 1 ? all : all.subgroup(IntStream.range(0, all.size()).toArray());
    arena = context.arena();
    kept = arena.keptValues().orElseThrow();
    this.own = own;
    this.areResident = areResident;
    // What always stays is gathered for an update, but for the first time.
    var ofAbsent = areResident ? Traffic.START : Traffic.EXCHANGE;
    sections = new GatheredSections(group, kept, arena.computedSections(), slicing, ofAbsent);
    masters =
        arena.isHalf()
            ? new GatheredSections(group, kept, arena.sections(), slicing, Traffic.EXCHANGE)
            : sections;
    lent = new LentSections(arena.computedSections());
    uses =
        new SectionUses(
            context.model().model(),
            arena.layout(),
            arena.sections().stream().map(Section::range).toList());
    reach = uses.reach();
    staying =
        uses.staying(
            areResident ? Long.MAX_VALUE : keptBytes / (arena.isHalf() ? Short.BYTES : bytes()));
    context.model().gate(this);
  }

  private int bytes() {
    return arena.layout().precision().bytes();
  }

  /** Tells whether passes find all that they compute with, because a reader has it. */
  private boolean hasAllForPasses() {
    return isWhole && !arena.isHalf();
  }

  @Override
  public void beginForward() {
    if (!hasAllForPasses()) {
      leaveBackward();
    }
  }

  /**
   * What a backward leaves depends on what it recomputed at once, and ranks may differ there: from
   * here on only the first segment's parameters are still there, on all of them.
   */
  private void leaveBackward() {
    first = 0;
    last = -1;
    freeUnless(section -> uses.isUsedBy(section, 0));
  }

  @Override
  public void enter(int segment) {
    if (isAlone) {
      lent.lend(uses.of(segment));
      return;
    }
    if (hasAllForPasses() || (first <= segment && segment <= last)) {
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

  @Override
  public void enterBackward(int from, int to) {
    if (hasAllForPasses()) {
      return;
    }
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

  @Override
  public void whileAlone(Runnable passes) {
    settle();
    isAlone = true;
    try {
      passes.run();
    } finally {
      lent.takeBack();
      isAlone = false;
    }
  }

  @Override
  public boolean pausesBetweenSegments() {
    return !areResident;
  }

  @Override
  public void forwardWithoutBatch() {
    beginForward();
    for (int segment = 0; segment < uses.segments(); segment++) {
      enter(segment);
    }
  }

  @Override
  public void passWithoutBatch() {
    forwardWithoutBatch();
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

  private void freeAll() {
    sections.freeAll();
    freeMasters();
  }

  private void freeMasters() {
    masters.freeAll();
    isWhole = false;
    first = 0;
    last = -1;
  }

  private void gatherAll() {
    beginForward();
    masters.bringAll();
    isWhole = true;
  }

  @Override
  public void settle() {
    sections.settle();
    masters.settle();
  }

  @Override
  public void requireAll() {
    if (!isWhole) {
      throw new IllegalStateException(
          "each rank holds slices of the parameters: look at the model inside the trainer's read,"
              + " which all ranks call together, or call its averageParameters first");
    }
  }

  @Override
  public void forEachSection(List<Section> all, boolean changes, Consumer<Section> action) {
    for (var section : masters.all()) {
      enterSection(section);
      action.accept(section);
      if (changes) {
        arena.takeValues(section);
      }
    }
    leaveSection();
    if (changes && arena.isHalf()) {
      sections.freeAll();
    }
  }

  @Override
  public void enterSection(Section section) {
    int wanted = masters.all().indexOf(section);
    if (wanted == entered) {
      return;
    }
    leaveSection();
    settle();
    beginForward();
    if (!section.isPresent()) {
      masters.bring(List.of(wanted));
      entered = wanted;
    }
  }

  @Override
  public void leaveSection() {
    if (entered != NONE) {
      masters.all().get(entered).free();
      entered = NONE;
    }
  }

  @Override
  public boolean hasAll() {
    return isWhole;
  }

  /** What an update has changed must be gathered again. */
  @Override
  public void afterWindow(StepOutcome window) {
    if (window.updated()) {
      if (areResident) {
        freeMasters();
        sections.renewAll();
      } else {
        freeAll();
      }
    }
  }

  /** There is one copy of each slice, so nothing to compare. */
  @Override
  public boolean comparesAfter(long updates, long every) {
    return false;
  }

  @Override
  public <T> T whileEvaluated(Supplier<T> passes) {
    return passes.get();
  }

  @Override
  public <T> T whileAveraged(Supplier<T> action) {
    boolean wasWhole = isWhole;
    gatherAll();
    var result = action.get();
    if (!wasWhole) {
      freeMasters();
    }
    return result;
  }

  @Override
  public List<Range> updated(Layout layout) {
    return kept.ranges().stream().filter(range -> range.length() > 0).toList();
  }

  @Override
  public <T> T whileReplaced(Runnable swap, Supplier<T> action) {
    boolean wasWhole = isWhole;
    freeAll();
    swap.run();
    T result = action.get();
    freeAll();
    swap.run();
    if (wasWhole) {
      gatherAll();
    }
    return result;
  }

  @Override
  public void change(Runnable change) {
    boolean wasWhole = isWhole;
    freeAll();
    change.run();
    if (wasWhole) {
      gatherAll();
    }
  }

  /** All ranks hold all parameters, until the next update. */
  @Override
  public void average() {
    gatherAll();
  }

  /** Ranks may not have room for all parameters, and need not look at them. */
  @Override
  public void end() {
    settle();
  }

  @Override
  public void close() {
    try {
      settle();
    } finally {
      own.close();
    }
  }
}
