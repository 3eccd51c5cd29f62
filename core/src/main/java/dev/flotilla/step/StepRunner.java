package dev.flotilla.step;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.data.Batch;
import dev.flotilla.exchange.WindowExchange;
import dev.flotilla.model.LossTerms;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.Accumulation.Decision;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.pass.RunningStatistics;
import dev.flotilla.pass.SegmentChain;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongToDoubleFunction;

/**
 * Runs micro-steps; the only home of the order of phases.
 *
 * <p>Not thread-safe: one thread of a rank runs all steps.
 */
public final class StepRunner implements Stateful, AutoCloseable {

  private static final Accumulation UNENDING = (_, _, _) -> Decision.CONTINUE;

  private final Gradients gradients;
  private final StepWorkers workers;
  private final GradientPasses passes;
  private final WindowExchange exchange;
  private final RunningStatistics statistics;
  private final LongToDoubleFunction learningRate;
  private final Consumer<String> notices;
  private final Optional<String> forwardTechniques;

  private MicroStep step = MicroStep.NONE;
  private long updates;

  /**
   * Builds the workers of a plan.
   *
   * @param statistics moves with the windows that end in an update
   * @param learningRate the learning rate after a number of updates
   */
  public StepRunner(
      StepPlan plan,
      StepContext context,
      SegmentChain chain,
      RunningStatistics statistics,
      LongToDoubleFunction learningRate) {
    this.gradients = context.arena().gradients();
    this.statistics = statistics;
    this.learningRate = learningRate;
    this.notices = context.notices();
    this.forwardTechniques =
        Optional.of(plan.describe(Phase.FORWARD))
            .filter(it -> !it.equals(Phase.FORWARD.byDefault()));
    var made = Workers.of(plan, context);
    workers = StepWorkers.of(made, context);
    exchange = workers.exchange();
    passes = new GradientPasses(made, context, chain, this::duringBackward);
  }

  /** Returns what techniques have to say in the run's summary. */
  public Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>(passes.metrics());
    metrics.putAll(workers.metrics());
    return metrics;
  }

  /** Returns what follows an update. */
  public Sync sync() {
    return workers.sync();
  }

  /** Returns the number of updates made. */
  public long updates() {
    return updates;
  }

  /** Returns the number of micro-steps made. */
  public long microSteps() {
    return step.index() + 1;
  }

  /** Returns the micro-steps that an unfinished window holds. */
  public int waiting() {
    return step.waiting();
  }

  /** Returns the micro-steps of a full window that follows so many updates. */
  public int microStepsAfter(long updatesMade) {
    return workers.accumulation().microSteps(updatesMade);
  }

  /** Returns how many updates epochs of so many micro-steps make. */
  public UpdateCount updateCount(long microStepsPerEpoch) {
    return new UpdateCount(workers.accumulation(), microStepsPerEpoch);
  }

  /** Runs one micro-batch; all ranks call it equally often, also with an empty batch. */
  public StepOutcome step(Batch batch, boolean lastOfEpoch) {
    var accumulation = workers.accumulation();
    step = step.next(accumulation, lastOfEpoch, updates);
    int microSteps = step.inWindow() + 1;
    if (lastOfEpoch && accumulation.after(microSteps, false, updates) == Decision.CONTINUE) {
      accumulation.epochEndedInside(microSteps, updates);
    }
    add(batch);
    return switch (step.decision()) {
      case CONTINUE -> new StepOutcome(step, gradients.ownTotals());
      case UPDATE -> finishWindow();
      case DISCARD -> discardWindow();
    };
  }

  /** Runs one micro-batch of a window that a loop of the user's own will end. */
  public Totals accumulate(Batch batch) {
    step = step.next(UNENDING, false, updates);
    add(batch);
    return gradients.ownTotals();
  }

  /** Adds the gradient of a loss that a loop of the user's own has computed. */
  public Totals accumulate(LossTerms loss) {
    step = step.next(UNENDING, false, updates);
    beginWindow();
    passes.add(loss, step);
    return gradients.ownTotals();
  }

  private void add(Batch batch) {
    beginWindow();
    passes.add(batch, step);
    statistics.saw(batch.samples());
  }

  private void beginWindow() {
    if (step.inWindow() == 0) {
      statistics.beginWindow();
    }
  }

  /** Ends the window of a loop of the user's own with an exchange and an update. */
  public StepOutcome update() {
    step = step.asBoundary();
    passes.complete(step);
    return finishWindow();
  }

  /** Throws away the gradients of the window so far. */
  public void clear() {
    step = step.asBoundary();
    exchange.leave();
    passes.clear();
    statistics.endWindow(false);
  }

  /** Drops everything that a micro-step which has failed left behind. */
  public void abandon() {
    step = step.asBoundary();
    exchange.leave();
    passes.abandon();
    statistics.endWindow(false);
  }

  /** Tells whether a technique decides where windows end. */
  public boolean hasOwnWindows() {
    return workers.hasOwnWindows();
  }

  /** Returns what techniques do in forward passes, in words; empty where none does anything. */
  public Optional<String> forwardTechniques() {
    return forwardTechniques;
  }

  /** Lets buckets leave while backward goes on, where nothing has to happen in between. */
  private void duringBackward(Runnable backward, Object graph) {
    boolean begins =
        step.decision() == Decision.UPDATE
            && (!exchange.keepsResiduals() || exchange.sharesEarly())
            && workers.conditions().stream().noneMatch(GradientFilter::isDue);
    if (begins) {
      workers.finite().beforeExchange(gradients);
    }
    exchange.during(backward, graph, begins && (!exchange.keepsResiduals() || agreeEarly()));
  }

  /** Agrees on the totals, and so on the scale, before gradients are there; false without terms. */
  private boolean agreeEarly() {
    var totals = exchange.agree();
    if (totals.count() > 0) {
      workers.unreached().settle();
      gradients.judgeBeforeSharing(true);
      gradients.scale(factor(totals));
    }
    return totals.count() > 0;
  }

  private StepOutcome discardWindow() {
    var totals = gradients.totals();
    passes.clear();
    statistics.endWindow(false);
    return new StepOutcome(step, totals);
  }

  private StepOutcome finishWindow() {
    try {
      return exchangeAndUpdate();
    } finally {
      workers.unreached().putBack();
    }
  }

  private StepOutcome exchangeAndUpdate() {
    if (!exchange.isBegun()) {
      workers.finite().beforeExchange(gradients);
    }
    // Conditions say the same on all ranks, so that all of them leave the exchange out together.
    boolean proceed = exchange.isBegun() || apply(workers.conditions());
    Totals totals;
    if (!proceed) {
      totals = gradients.totals();
    } else if (exchange.keepsResiduals() && exchange.sharesEarly()) {
      boolean hasTerms = exchange.isBegun() ? gradients.totals().count() > 0 : agreeEarly();
      totals = gradients.totals();
      shareOrLeave(hasTerms);
      proceed = hasTerms ? apply(workers.refinements()) : judge(totals);
    } else if (exchange.keepsResiduals()) {
      totals = exchange.agree();
      proceed = judge(totals);
      shareOrLeave(proceed);
    } else {
      totals = exchange.finish();
      proceed = judge(totals);
    }
    double lr = learningRate.applyAsDouble(updates);
    if (proceed) {
      workers.unreached().setAside();
      workers.unreached().returnReached();
      workers.update().apply(lr);
    }
    statistics.endWindow(proceed);
    // What only this rank leaves out counts as made, or ranks would no longer be in step.
    boolean counts = proceed || workers.isAlone();
    updates += counts ? 1 : 0;
    var outcome =
        new StepOutcome(step, counts, totals, counts ? lr : 0, workers.finite().finding());
    workers.sync().afterWindow(outcome);
    gradients.clear();
    return outcome;
  }

  private void shareOrLeave(boolean proceed) {
    if (proceed) {
      // What an exchange keeps as residuals holds the decay of weights too.
      workers.unreached().setAside();
      exchange.finish();
    } else {
      exchange.leave();
    }
  }

  /** Makes the sum a mean, refines it, and tells whether the update goes on. */
  private boolean judge(Totals totals) {
    if (totals.count() == 0) {
      notices.accept(
          "update skipped: %s loss term in window %d"
              .formatted(workers.isAlone() ? "this rank had no" : "no rank had a", updates));
      return false;
    }
    workers.unreached().settle();
    gradients.scale(factor(totals));
    return apply(workers.refinements());
  }

  /** Returns what makes the window's sum a mean. */
  private double factor(Totals totals) {
    return workers.accumulation().factor(step.inWindow() + 1) / totals.count();
  }

  private boolean apply(List<GradientFilter> filters) {
    for (var filter : filters) {
      if (!filter.apply(gradients, step)) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void remember(RunState state) {
    var shared = state.shared().part("step");
    step = step.remembered(shared);
    updates = shared.number("updates", updates);
    // Workers first: they may have to bring the ranks' sums to one scale before these are saved.
    workers.remember(state);
    rememberWindow(state);
  }

  private void rememberWindow(RunState state) {
    if (!step.endsWindow()) {
      // Gradients at parameters of a rank's own, in its own loss scale, are of no use to others.
      boolean isOwn = workers.sync().letsRanksDiffer();
      passes.remember(state, isOwn ? state.own() : state.summed());
    } else if (!state.isSaving()) {
      passes.clear();
    }
  }

  @Override
  public void close() {
    workers.close();
  }
}
