package dev.flotilla.step;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Slot;
import dev.flotilla.arena.Totals;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.exchange.WindowExchange;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.pass.RunningStatistics;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongToDoubleFunction;

/**
 * Runs an accumulation window from its last backward to its update; the only home of the order of
 * phases.
 *
 * <p>There are two orders. Usually ranks reduce their gradients, and filters then judge the mean.
 * Where a rank keeps what it does not send, filters judge its own gradients before they are
 * reduced. An exchange may change from one to the other between windows.
 */
final class StepRunner {

  private final ParameterArena arena;
  private final Gradients gradients;
  private final StepWorkers workers;
  private final WindowExchange exchange;
  private final RunningStatistics statistics;
  private final LongToDoubleFunction learningRate;
  private final StepClock clock = new StepClock();
  private final Consumer<String> notices;
  private final int ranks;
  private final Runnable heard;
  private final UpdateSettings updateSettings;

  /** Parameters that are frozen in the first epochs. */
  private final List<Slot> thawing;

  private UpdateWatch watch = UpdateWatch.NONE;
  private MicroStep step = MicroStep.NONE;

  /** What a window comes to: its totals, and whether an update follows. */
  private record Verdict(Totals totals, boolean proceeds) {}

  StepRunner(
      Workers made,
      StepContext context,
      RunningStatistics statistics,
      LongToDoubleFunction learningRate,
      Runnable heard) {
    this.arena = context.arena();
    this.gradients = arena.gradients();
    this.statistics = statistics;
    this.learningRate = learningRate;
    this.notices = context.notices();
    updateSettings = context.updateSettings();
    thawing =
        arena.layout().slots().stream()
            .filter(slot -> updateSettings.valuesOf(slot.spec()).frozenEpochs() > 0)
            .toList();
    this.ranks = context.collective().size();
    this.heard = heard;
    workers = StepWorkers.of(made, context, statistics, this::mean);
    exchange = workers.exchange();
  }

  StepClock clock() {
    return clock;
  }

  StepWorkers workers() {
    return workers;
  }

  /** Runs a backward, and lets buckets leave meanwhile where nothing has to happen in between. */
  void duringBackward(Runnable backward, MicroStep at, Object graph) {
    step = at;
    boolean mayLeave = !exchange.judgesFirst() && !isConditionDue();
    boolean begins = mayLeave && step.isBoundary();
    if (begins) {
      workers.finite().beforeExchange();
    }
    exchange.during(backward, graph, mayLeave, begins);
  }

  private boolean isConditionDue() {
    return workers.conditions().stream().anyMatch(GradientFilter::isDue);
  }

  /**
   * Ends a micro-step before its window does: gradients that are reduced at once leave, after what
   * has to happen before; all ranks call it together.
   */
  void endMicroStep(MicroStep at) {
    step = at;
    if (!exchange.reducesEachMicroStep()) {
      return;
    }
    if (isConditionDue() && !apply(workers.conditions(), GradientView.unexchanged(arena))) {
      throw new IllegalStateException("a micro-step whose gradients leave cannot drop its window");
    }
    long start = StepClock.now();
    exchange.endMicroStep();
    clock.exchangeSince(start);
  }

  /** Ends the window with an exchange and an update. */
  StepOutcome update(MicroStep at, long updates) {
    step = at;
    long start = StepClock.now();
    long exchangeBefore = clock.exchange();
    try {
      boolean isExchanged = exchange.isBegun() || condition();
      var verdict = isExchanged ? exchange(updates) : new Verdict(gradients.totals(), false);
      if (isExchanged) {
        hear();
      }
      double lr = learningRate.applyAsDouble(updates);
      if (verdict.proceeds()) {
        watch.before(arena, updates + 1);
        workers.unreached().setAside();
        workers.unreached().returnReached(exchange.view());
        workers.update().apply(lr);
        workers.unreached().putBack();
      }
      return end(verdict, lr, updates);
    } finally {
      exchange.leave();
      workers.unreached().putBack();
      clock.updateSince(start, exchangeBefore);
    }
  }

  /** Lets somebody look at updates. */
  void watch(UpdateWatch by) {
    watch = by;
  }

  /** Lets the exchange of the next window tell all ranks that this one has something to say. */
  void raise(boolean isRaised) {
    if (isRaised) {
      gradients.raise(ranks);
    } else {
      gradients.lower();
    }
  }

  /** What a rank has asked for comes before the update, which may be with another learning rate. */
  private void hear() {
    if (ranks == 1 ? gradients.isRaised() : gradients.isRaisedByAny()) {
      gradients.lower();
      heard.run();
    }
  }

  /** Conditions say the same on all ranks, so that all of them leave the exchange out together. */
  private boolean condition() {
    workers.finite().beforeExchange();
    return apply(workers.conditions(), GradientView.unexchanged(arena));
  }

  private Verdict exchange(long updates) {
    return exchange.judgesFirst() ? judgeThenReduce(updates) : reduceThenJudge(updates);
  }

  private Verdict reduceThenJudge(long updates) {
    long start = StepClock.now();
    exchange.begin();
    // What an exchange keeps holds the decay of weights too.
    workers.unreached().setAside();
    var totals = exchange.finish();
    clock.exchangeSince(start);
    return new Verdict(totals, judge(totals, updates));
  }

  private Verdict judgeThenReduce(long updates) {
    long start = StepClock.now();
    exchange.begin();
    clock.exchangeSince(start);
    var totals = gradients.totals();
    boolean proceeds = judge(totals, updates);
    if (proceeds) {
      workers.unreached().setAside();
      long judged = StepClock.now();
      exchange.finish();
      clock.exchangeSince(judged);
    }
    return new Verdict(totals, proceeds);
  }

  private boolean judge(Totals totals, long updates) {
    if (totals.count() == 0) {
      notices.accept(
          "update skipped: %s loss term in window %d"
              .formatted(workers.isAlone() ? "this rank had no" : "no rank had a", updates));
      return false;
    }
    clearFrozen(exchange.view());
    return apply(workers.refinements(), exchange.view());
  }

  /** What stays as it is has no part in the norm, as where PyTorch has no gradient. */
  private void clearFrozen(GradientView view) {
    for (var slot : thawing) {
      if (updateSettings.isFrozen(updateSettings.valuesOf(slot.spec()))) {
        view.clear(slot);
      }
    }
  }

  private boolean apply(List<GradientFilter> filters, GradientView view) {
    return filters.stream().allMatch(filter -> filter.apply(view, step));
  }

  /** Hears the window's totals, and returns what makes its sum a mean. */
  private double mean(Totals totals) {
    workers.unreached().settle();
    return workers.accumulation().factor(step.inWindow() + 1) / totals.count();
  }

  private StepOutcome end(Verdict verdict, double lr, long updates) {
    statistics.endWindow(verdict.proceeds());
    // What only this rank leaves out counts as made, or ranks would no longer be in step.
    boolean counts = verdict.proceeds() || workers.isAlone();
    var finding = workers.finite().finding();
    var outcome = new StepOutcome(step, counts, verdict.totals(), counts ? lr : 0, finding);
    long start = StepClock.now();
    workers.sync().afterWindow(outcome);
    clock.exchangeSince(start);
    if (counts) {
      workers.average().afterUpdate(updates + 1);
    }
    if (verdict.proceeds()) {
      watch.after(arena, updates + 1);
    }
    gradients.clear();
    return outcome;
  }
}
