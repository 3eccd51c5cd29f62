package dev.flotilla.step;

import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.Accumulation.Decision;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Counts the updates of epochs before they are run, starting with an empty window.
 *
 * <p>Once windows are settled, an epoch is a function of the micro-steps that wait when it begins.
 * When as many wait as did before, the epochs in between come again and again, and are counted at
 * once: a run that would take years is planned in no time.
 */
public final class UpdateCount {

  /** Further than anybody counts, and far from where numbers overflow. */
  private static final long MOST = 1L << 60;

  private final Accumulation accumulation;
  private final long microStepsPerEpoch;
  private @Nullable Mark mark;
  private long epochs;
  private long updates;
  private int inWindow;

  /** How far the count was when an epoch began. */
  private record Mark(long epochs, long updates, int inWindow) {}

  UpdateCount(Accumulation accumulation, long microStepsPerEpoch) {
    this.accumulation = accumulation;
    this.microStepsPerEpoch = microStepsPerEpoch;
  }

  /** Returns the number of updates of so many epochs. */
  public long in(long wanted) {
    restart();
    while (epochs < wanted) {
      var before = sameBefore();
      if (before != null) {
        skip((wanted - epochs) / (epochs - before.epochs()), before);
      }
      if (epochs < wanted) {
        addEpoch();
      }
    }
    return updates;
  }

  /**
   * Returns the number of epochs that make at least so many updates, or one that no run will see
   * the end of; empty if none ever do.
   */
  public OptionalLong epochsFor(long wanted) {
    restart();
    long most = Math.min(wanted, MOST);
    while (updates < most && epochs < MOST) {
      var before = sameBefore();
      if (before != null && before.updates() == updates) {
        return OptionalLong.empty();
      }
      if (before != null) {
        // One less than fits, so that the last epochs are counted one by one.
        long times = (most - updates) / (updates - before.updates()) - 1;
        skip(Math.min(times, (MOST - epochs) / (epochs - before.epochs()) + 1), before);
      }
      addEpoch();
    }
    return OptionalLong.of(epochs);
  }

  /** Returns an earlier place from which the same followed as follows from here. */
  private @Nullable Mark sameBefore() {
    if (updates < accumulation.settledAfter()) {
      return null;
    }
    if (mark == null) {
      mark = new Mark(epochs, updates, inWindow);
      return null;
    }
    return mark.inWindow() == inWindow ? mark : null;
  }

  /** Goes through the epochs since a place so many times more. */
  private void skip(long times, Mark since) {
    if (times > 0) {
      updates += times * (updates - since.updates());
      epochs += times * (epochs - since.epochs());
      mark = null;
    }
  }

  private void restart() {
    mark = null;
    epochs = 0;
    updates = 0;
    inWindow = 0;
  }

  private void addEpoch() {
    for (long left = microStepsPerEpoch; left > 0; left--) {
      // Nothing is decided before a window is full or the epoch ends.
      long inside = Math.min(left, accumulation.microSteps(updates) - inWindow) - 1;
      if (inside > 0) {
        inWindow += (int) inside;
        left -= inside;
      }
      var decision = accumulation.after(++inWindow, left == 1, updates);
      updates += decision == Decision.UPDATE ? 1 : 0;
      inWindow = decision == Decision.CONTINUE ? inWindow : 0;
    }
    epochs++;
  }
}
