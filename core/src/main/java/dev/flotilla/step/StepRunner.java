package dev.flotilla.step;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Totals;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.exchange.WindowExchange;
import dev.flotilla.memory.HeapTrim;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.pass.RunningStatistics;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.LongToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Ends an accumulation window, with an update; the only home of the order of phases.
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
  private final StepClock clock;
  private final RunningStatistics statistics;
  private final LongToDoubleFunction learningRate;
  private final RankSignal signal;
  private final Consumer<String> notices;
  private final @Nullable LateVote late;
  private final HeapTrim heap;
  private UpdateWatch watch = UpdateWatch.NONE;
  private boolean isWatched;

  /** What a window comes to: its totals, and whether an update follows. */
  private record Verdict(Totals totals, Decision decision) {

    boolean proceeds() {
      return decision == Decision.UPDATE;
    }
  }

  private enum Decision {
    UPDATE,
    NONE,
    /** The device decides. */
    LATER;

    static Decision of(boolean proceeds) {
      return proceeds ? UPDATE : NONE;
    }
  }

  StepRunner(
      StepWorkers workers,
      StepClock clock,
      StepContext context,
      RunningStatistics statistics,
      LongToDoubleFunction learningRate,
      RankSignal signal) {
    this.arena = context.arena();
    this.gradients = arena.gradients();
    this.workers = workers;
    this.exchange = workers.exchange();
    this.clock = clock;
    this.statistics = statistics;
    this.learningRate = learningRate;
    this.signal = signal;
    this.notices = context.notices();
    this.late = LateVote.of(workers, context, statistics);
    this.heap = new HeapTrim(context.model().device());
  }

  /** Lets somebody look at updates. */
  void watch(UpdateWatch by) {
    watch = by;
    isWatched = true;
  }

  /** Waits until it is known what became of the last update, where the device decides. */
  void settle() {
    if (late != null) {
      late.settle();
    }
  }

  /**
   * Ends the window with an exchange and an update.
   *
   * @param settling called by who wants to know what became of an update that the device decides on
   */
  StepOutcome update(MicroStep step, long updates, Runnable settling) {
    workers.mean().at(step);
    gradients.settle(); // A window without a backward has left nothing.
    long start = StepClock.now();
    long exchangeBefore = clock.exchange();
    try {
      boolean isExchanged = exchange.isBegun() || condition(step);
      var verdict =
          isExchanged ? reduce(step, updates) : new Verdict(gradients.totals(), Decision.NONE);
      if (isExchanged) {
        signal.hear(); // before the update, which may be with another learning rate then
      }
      double lr = learningRate.applyAsDouble(updates);
      if (verdict.decision() == Decision.LATER) {
        return Objects.requireNonNull(late).update(step, lr, settling);
      }
      if (verdict.proceeds()) {
        watch.before(arena, updates + 1);
        workers.unreached().setAside();
        workers.unreached().returnReached(exchange.view());
        workers.update().apply(lr);
        workers.unreached().putBack();
      }
      return end(step, verdict, lr, updates);
    } finally {
      exchange.leave();
      workers.unreached().putBack();
      clock.updateSince(start, exchangeBefore);
    }
  }

  /** Conditions say the same on all ranks, so that all of them leave the exchange out together. */
  private boolean condition(MicroStep step) {
    workers.finite().beforeExchange();
    return GradientFilter.all(workers.conditions(), GradientView.unexchanged(arena), step);
  }

  private Verdict reduce(MicroStep step, long updates) {
    return exchange.judgesFirst() ? judgeThenReduce(step, updates) : reduceThenJudge(step, updates);
  }

  private Verdict reduceThenJudge(MicroStep step, long updates) {
    long start = StepClock.now();
    exchange.begin();
    // What an exchange keeps holds the decay of weights too.
    workers.unreached().setAside();
    var totals = exchange.finish();
    clock.exchangeSince(start);
    return new Verdict(totals, judge(totals, step, updates));
  }

  private Verdict judgeThenReduce(MicroStep step, long updates) {
    long start = StepClock.now();
    exchange.begin();
    clock.exchangeSince(start);
    var totals = gradients.totals();
    var verdict = new Verdict(totals, judge(totals, step, updates));
    if (verdict.proceeds()) {
      workers.unreached().setAside();
      long judged = StepClock.now();
      exchange.finish();
      clock.exchangeSince(judged);
    }
    return verdict;
  }

  private Decision judge(Totals totals, MicroStep step, long updates) {
    if (totals.count() == 0) {
      notices.accept(
          "update skipped: %s loss term in window %d"
              .formatted(workers.isAlone() ? "this rank had no" : "no rank had a", updates));
      return Decision.NONE;
    }
    if (late != null && late.isPossible() && !isWatched && !exchange.judgesFirst()) {
      late.refine(exchange.view(), step);
      return Decision.LATER;
    }
    return Decision.of(GradientFilter.all(workers.refinements(), exchange.view(), step));
  }

  private StepOutcome end(MicroStep step, Verdict verdict, double lr, long updates) {
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
    heap.afterUpdate();
    return outcome;
  }
}
