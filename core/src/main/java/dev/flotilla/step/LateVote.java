package dev.flotilla.step;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.LateNumbers;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.pass.RunningStatistics;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Lets the device decide whether a window's gradients are fit for an update, so that nothing waits
 * for it in a step: the update leaves itself out, and everybody hears of it before the next
 * backward begins, while the device has the forward pass before it to work on.
 *
 * <p>Possible for a rank that is alone, where the optimizer can leave an update out by itself and
 * no technique has to know more.
 */
final class LateVote {

  /** Whether this is done in main memory too, where nothing is gained; for tests. */
  static volatile boolean isUsedOnCpu;

  private final Gradients gradients;
  private final StepWorkers workers;
  private final RunningStatistics statistics;
  private final List<GradientFilter.Late> filters;
  private @Nullable Undecided undecided;

  private record Undecided(StepOutcome outcome, LateNumbers numbers, double lr) {}

  private LateVote(
      StepWorkers workers,
      Gradients gradients,
      RunningStatistics statistics,
      List<GradientFilter.Late> filters) {
    this.gradients = gradients;
    this.workers = workers;
    this.statistics = statistics;
    this.filters = filters;
  }

  /** Returns it where it is possible; null where an update has to be decided on the host. */
  static @Nullable LateVote of(
      StepWorkers workers, StepContext context, RunningStatistics statistics) {
    var gradients = context.arena().gradients();
    boolean isWanted = context.model().device().isCuda() || isUsedOnCpu;
    List<GradientFilter.Late> filters = new ArrayList<>();
    for (var filter : workers.refinements()) {
      if (filter instanceof GradientFilter.Late late) {
        filters.add(late);
      }
    }
    boolean isPossible =
        isWanted
            && context.collective().size() == 1
            && gradients.kept().isEmpty()
            && filters.size() == workers.refinements().size()
            && workers.update().skipsOnDevice()
            && Sync.NONE.equals(workers.sync())
            && MovingAverage.NONE.equals(workers.average());
    return isPossible && gradients.searchesWhileScaling()
        ? new LateVote(workers, gradients, statistics, List.copyOf(filters))
        : null;
  }

  /** Tells whether the window that has been reduced can be left to the device. */
  boolean isPossible() {
    return gradients.isSearched() && workers.unreached().areNone();
  }

  /** Works on the gradients as far as that can be done without knowing whether they are finite. */
  void refine(GradientView view, MicroStep step) {
    filters.forEach(filter -> filter.applyUnjudged(view, step));
  }

  /** Ends a window with an update that leaves itself out. */
  StepOutcome update(MicroStep step, double lr, Runnable settling) {
    var numbers = gradients.endWindow(() -> updateUnless(gradients.found(), lr));
    var outcome = new StepOutcome(step, numbers.totals(), settling);
    undecided = new Undecided(outcome, numbers, lr);
    return outcome;
  }

  private void updateUnless(Tensor found, double lr) {
    workers.update().applyUnless(found, lr);
    statistics.endWindowUnless(found);
  }

  /** Waits until the device has judged the last window, and says so to those who have to know. */
  void settle() {
    var last = undecided;
    if (last == null) {
      return;
    }
    undecided = null;
    boolean isMade = last.numbers().isFinite();
    if (!isMade) {
      statistics.leaveOut();
    }
    try {
      filters.forEach(filter -> filter.judged(last.numbers().totals(), isMade));
    } finally {
      last.outcome().decide(isMade, isMade ? last.lr() : 0, workers.finite().finding());
    }
  }
}
