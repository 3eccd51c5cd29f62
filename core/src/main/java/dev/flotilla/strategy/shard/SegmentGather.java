package dev.flotilla.strategy.shard;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Layout;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.step.Sync;
import java.util.List;
import java.util.function.Supplier;

/**
 * Lets slices of all ranks be the only place that holds the parameters: what was gathered of them
 * is gone, or gathered anew, when slices change.
 */
final class SegmentGather implements Sync {

  private final SegmentGate gate;
  private final List<Range> ranges;
  private final OwnSlices own;

  /**
   * Follows updates.
   *
   * @param gate gathers
   * @param ranges what this rank keeps, none of it empty
   * @param own the same, closed with this
   */
  SegmentGather(SegmentGate gate, List<Range> ranges, OwnSlices own) {
    this.gate = gate;
    this.ranges = ranges;
    this.own = own;
  }

  /** What an update has changed must be gathered again. */
  @Override
  public void afterWindow(StepOutcome window) {
    if (window.updated()) {
      gate.renew();
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
    boolean wasWhole = gate.hasAll();
    gate.gatherAll();
    var result = action.get();
    if (!wasWhole) {
      gate.freeMasters();
    }
    return result;
  }

  @Override
  public boolean sharesOut() {
    return true;
  }

  @Override
  public List<Range> updated(Layout layout) {
    return ranges;
  }

  @Override
  public <T> T whileReplaced(Runnable swap, Supplier<T> action) {
    boolean wasWhole = gate.hasAll();
    gate.freeAll();
    swap.run();
    T result = action.get();
    gate.freeAll();
    swap.run();
    if (wasWhole) {
      gate.gatherAll();
    }
    return result;
  }

  @Override
  public void change(Runnable change) {
    boolean wasWhole = gate.hasAll();
    gate.freeAll();
    change.run();
    if (wasWhole) {
      gate.gatherAll();
    }
  }

  /** All ranks hold all parameters, until the next update. */
  @Override
  public void average() {
    gate.gatherAll();
  }

  /** Ranks may not have room for all parameters, and need not look at them. */
  @Override
  public void end() {
    gate.settle();
  }

  @Override
  public void close() {
    try {
      gate.settle();
    } finally {
      own.close();
    }
  }
}
