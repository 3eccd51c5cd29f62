package dev.flotilla.strategy.shard;

import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Section;
import dev.flotilla.collective.Traffic;
import dev.flotilla.pass.ParameterGate;
import dev.flotilla.step.StepContext;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * Gathers parameters from the slices of all ranks when somebody needs them: those of a segment for
 * passes, and a section or all of them for readers.
 *
 * <p>Sends (n − 1) / n of the parameters' bytes per rank in forward, and again in backward, in a
 * process group of its own.
 *
 * <p>What passes compute with may be 16-bit copies. Then there are two sets of sections: the
 * copies, which passes gather and free, and the parameters themselves, which are gathered for
 * readers alone. Copies that always stay are gathered anew after each update, while the next
 * forward begins.
 */
final class SegmentGate implements ParameterGate {

  private static final int NONE = -1;

  private final ParameterArena arena;
  private final GatheredSections sections;
  // Those of the parameters themselves; the same unless passes compute with copies.
  private final GatheredSections masters;
  private final PassSections passes;
  private final boolean areResident;
  // The section that is there for a reader alone.
  private int entered = NONE;
  private boolean isWhole;

  /**
   * Gathers in a group of its own.
   *
   * @param keptBytes how much may stay gathered from one use to the next
   * @param areResident whether all of it always does
   */
  SegmentGate(StepContext context, Slicing slicing, long keptBytes, boolean areResident) {
    var all = context.peers();
    var group = all.size() == 1 ? all : all.subgroup(IntStream.range(0, all.size()).toArray());
    arena = context.arena();
    var kept = arena.keptValues().orElseThrow();
    this.areResident = areResident;
    // What always stays is gathered for an update, but for the first time.
    var ofAbsent = areResident ? Traffic.START : Traffic.EXCHANGE;
    sections = new GatheredSections(group, kept, arena.computedSections(), slicing, ofAbsent);
    masters =
        arena.isHalf()
            ? new GatheredSections(group, kept, arena.sections(), slicing, Traffic.EXCHANGE)
            : sections;
    var uses =
        new SectionUses(
            context.model().model(),
            arena.layout(),
            arena.sections().stream().map(Section::range).toList());
    int bytes = arena.isHalf() ? Short.BYTES : arena.layout().precision().bytes();
    var staying = uses.staying(areResident ? Long.MAX_VALUE : keptBytes / bytes);
    passes = new PassSections(sections, arena.computedSections(), uses, staying);
    context.model().gate(this);
  }

  /** Tells whether passes find all that they compute with, because a reader has it. */
  private boolean hasAllForPasses() {
    return isWhole && !arena.isHalf();
  }

  @Override
  public void beginForward() {
    if (!hasAllForPasses()) {
      passes.beginForward();
    }
  }

  @Override
  public void enter(int segment) {
    if (passes.isAlone() || !hasAllForPasses()) {
      passes.enter(segment);
    }
  }

  @Override
  public void enterBackward(int from, int to) {
    if (!hasAllForPasses()) {
      passes.enterBackward(from, to);
    }
  }

  @Override
  public void whileAlone(Runnable alone) {
    settle();
    passes.whileAlone(alone);
  }

  @Override
  public boolean pausesBetweenSegments() {
    return !areResident;
  }

  @Override
  public void forwardWithoutBatch() {
    if (!hasAllForPasses()) {
      passes.forwardWithoutBatch();
    }
  }

  @Override
  public void passWithoutBatch() {
    if (!hasAllForPasses()) {
      passes.forwardWithoutBatch();
      passes.backwardWithoutBatch();
    }
  }

  /** Frees all that was gathered: what is gathered next is of other values. */
  void freeAll() {
    sections.freeAll();
    freeMasters();
  }

  /** Frees what was gathered for readers alone. */
  void freeMasters() {
    masters.freeAll();
    isWhole = false;
    passes.forget();
  }

  /** Gathers all parameters for readers, until they are freed. */
  void gatherAll() {
    beginForward();
    masters.bringAll();
    isWhole = true;
  }

  /** Lets passes find what an update has changed: at once, or when they come to it. */
  void renew() {
    if (areResident) {
      freeMasters();
      sections.renewAll();
    } else {
      freeAll();
    }
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
}
