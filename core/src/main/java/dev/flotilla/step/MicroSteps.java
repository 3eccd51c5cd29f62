package dev.flotilla.step;

import dev.flotilla.arena.Totals;
import dev.flotilla.data.Batch;
import dev.flotilla.model.LossTerms;
import dev.flotilla.pass.Accumulation;
import dev.flotilla.pass.Accumulation.Decision;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.pass.RunningStatistics;
import dev.flotilla.pass.SegmentChain;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.LongToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The micro-steps of a run: decides where accumulation windows end, counts, saves and restores.
 *
 * <p>Not thread-safe: one thread of a rank runs all steps.
 */
public final class MicroSteps implements Stateful, AutoCloseable {

  private static final Accumulation UNENDING = (_, _, _) -> Decision.CONTINUE;
  private static final Accumulation ENDING = (_, _, _) -> Decision.UPDATE;

  private final StepClock clock = new StepClock();
  private final StepWorkers workers;
  private final RankSignal signal;
  private final StepRunner runner;
  private final MicroStepExchange early;
  private final GradientPasses passes;
  private final RunningStatistics statistics;
  private final Optional<String> accumulationTechnique;
  private final Optional<String> forwardTechniques;
  private MicroStep step = MicroStep.NONE;
  private long updates;
  private @Nullable StepOutcome undecided;
  private @Nullable StepOutcome untold;

  /**
   * Makes the workers of a plan.
   *
   * @param statistics moves with the windows that end in an update
   * @param learningRate the learning rate after a number of updates
   * @param heard called on all ranks in one window, between its exchange and its update, after one
   *     of them {@linkplain #raise has something to say}
   */
  public MicroSteps(
      StepPlan plan,
      StepContext context,
      SegmentChain chain,
      RunningStatistics statistics,
      LongToDoubleFunction learningRate,
      Runnable heard) {
    this.statistics = statistics;
    var made = Workers.of(plan, context);
    workers = StepWorkers.of(made, context, statistics);
    signal = new RankSignal(context.arena().gradients(), context.collective().size(), heard);
    runner = new StepRunner(workers, clock, context, statistics, learningRate, signal);
    early = new MicroStepExchange(context.arena(), workers, clock);
    passes = new GradientPasses(made, context, chain, early, this::decide, this::tell);
    accumulationTechnique = plan.owner(Phase.ACCUMULATION);
    forwardTechniques =
        Optional.of(plan.describe(Phase.FORWARD))
            .filter(it -> !it.equals(Phase.FORWARD.byDefault()));
  }

  /** Runs one micro-batch; all ranks call it equally often, also with an empty batch. */
  public StepOutcome step(Batch batch, boolean lastOfEpoch) {
    var event = new StepEvent();
    event.begin();
    var outcome = run(batch, lastOfEpoch);
    if (event.shouldCommit()) {
      event.microStep = step.index();
      event.updates = updates;
      event.samples = batch.samples();
      event.boundary = step.isBoundary();
      event.updated = !outcome.isKnown() || outcome.updated();
      event.commit();
    }
    return outcome;
  }

  private StepOutcome run(Batch batch, boolean lastOfEpoch) {
    var accumulation = workers.accumulation();
    step = step.next(accumulation, lastOfEpoch, updates);
    int microSteps = step.inWindow() + 1;
    if (lastOfEpoch && accumulation.after(microSteps, false, updates) == Decision.CONTINUE) {
      accumulation.epochEndedInside(microSteps, updates);
    }
    add(batch);
    if (step.decision() != Decision.UPDATE) {
      endMicroStep();
    }
    return switch (step.decision()) {
      case CONTINUE -> new StepOutcome(step, passes.totals());
      case UPDATE -> finishWindow();
      case DISCARD -> discardWindow();
    };
  }

  private void add(Batch batch) {
    beginWindow();
    passes.add(batch, step);
    statistics.saw(batch.samples());
  }

  /** Batches that wait for the end of their window have no gradients that could leave before. */
  private void endMicroStep() {
    if (!passes.holdsBatches()) {
      early.end(step);
    }
  }

  /** In a loop of the user's own, whether a micro-step is the last shows when the next begins. */
  private void endMicroStepBefore() {
    if (!step.endsWindow()) {
      endMicroStep();
    }
  }

  /** Tells whether every micro-step exchanges gradients, and not only an update. */
  public boolean exchangesEachMicroStep() {
    return workers.exchange().reducesEachMicroStep();
  }

  private void beginWindow() {
    if (step.inWindow() == 0) {
      statistics.beginWindow();
    }
  }

  private StepOutcome discardWindow() {
    var totals = passes.windowTotals();
    drop();
    return new StepOutcome(step, totals);
  }

  /** Runs one micro-batch of a window that a loop of the user's own will end. */
  public Totals accumulate(Batch batch) {
    endMicroStepBefore();
    step = step.next(UNENDING, false, updates);
    add(batch);
    return passes.totals();
  }

  /** Adds the gradient of a loss that a loop of the user's own has computed. */
  public Totals accumulate(LossTerms loss) {
    endMicroStepBefore();
    step = step.next(UNENDING, false, updates);
    beginWindow();
    passes.add(loss, step);
    return passes.totals();
  }

  /** Ends the window of a loop of the user's own with an exchange and an update. */
  public StepOutcome update() {
    step = step.asBoundary();
    if (passes.holdsBatches()) {
      passes.complete(step);
    } else {
      workers.exchange().beginMicroStep();
    }
    return finishWindow();
  }

  /**
   * Runs the last micro-batch of a window of a loop of the user's own, with an exchange that begins
   * during backward where the plan overlaps, and an update.
   */
  public StepOutcome update(Batch last) {
    endMicroStepBefore();
    step = step.next(ENDING, false, updates);
    add(last);
    return finishWindow();
  }

  private StepOutcome finishWindow() {
    settle();
    var outcome = runner.update(step, updates, this::settle);
    if (outcome.isKnown()) {
      updates += outcome.updated() ? 1 : 0;
    } else {
      updates++;
      undecided = outcome;
      if (updates <= workers.accumulation().settledAfter()) {
        settle(); // How many micro-steps the next window has depends on it.
      }
    }
    return outcome;
  }

  /**
   * Waits until it is known what became of the last update, where the device decides on it, and
   * tells those who wait for it.
   */
  public void settle() {
    decide();
    tell();
  }

  /** Waits until it is known what became of the last update. */
  private void decide() {
    var last = undecided;
    if (last == null) {
      return;
    }
    undecided = null;
    try {
      runner.settle();
      untold = last;
    } finally {
      updates -= last.isKnown() && !last.updated() ? 1 : 0;
    }
  }

  /** Tells those who wait for it, which may take them a while. */
  private void tell() {
    var last = untold;
    if (last != null) {
      untold = null;
      last.tell();
    }
  }

  /**
   * Throws away the gradients of the window so far; all ranks call it together where micro-steps
   * exchange, as what has left cannot be stopped.
   */
  public void clear() {
    endMicroStepBefore();
    drop();
  }

  private void drop() {
    step = step.endsWindow() ? step : step.asBoundary();
    workers.exchange().leave();
    passes.clear();
    statistics.endWindow(false);
  }

  /** Drops everything that a micro-step which has failed left behind. */
  public void abandon() {
    passes.abandon();
    drop();
  }

  /** Returns what techniques have to say in the run's summary. */
  public Map<String, Object> metrics() {
    settle();
    Map<String, Object> metrics = new LinkedHashMap<>(passes.metrics());
    metrics.putAll(workers.metrics());
    return metrics;
  }

  /** Returns where the time of this rank's steps went. */
  public StepClock.Seconds seconds() {
    return clock.seconds(workers.exchange().hiddenNanos());
  }

  /** Returns which share of the gradients ranks have sent in the last window, where not all. */
  public OptionalDouble density() {
    return workers.exchange().density();
  }

  /** Returns what follows an update. */
  public Sync sync() {
    return workers.sync();
  }

  /**
   * Says whether this rank has something to say to all of them. It rides on the exchange of the
   * next window, so that asking costs nothing; a window that is not exchanged leaves it to the one
   * after.
   */
  public void raise(boolean isRaised) {
    signal.raise(isRaised);
  }

  /** Lets somebody look at updates; nobody does by default. */
  public void watch(UpdateWatch by) {
    runner.watch(by);
  }

  /** Returns what follows the parameters from update to update. */
  public MovingAverage average() {
    return workers.average();
  }

  /** Returns the number of updates made; waits for the last one where the device decides on it. */
  public long updates() {
    settle();
    return updates;
  }

  /**
   * Returns the number of updates made if the last one was, where the device decides on it and
   * nobody knows yet.
   */
  public long expectedUpdates() {
    return updates;
  }

  /** Returns the number of micro-steps made. */
  public long count() {
    return step.index() + 1;
  }

  /** Returns the micro-steps that an unfinished window holds. */
  public int waiting() {
    return step.waiting();
  }

  /** Tells whether the next micro-step begins an accumulation window. */
  public boolean isBetweenWindows() {
    return waiting() == 0;
  }

  /** Returns the micro-steps of a full window that follows so many updates. */
  public int perWindow(long updatesMade) {
    return workers.accumulation().microSteps(updatesMade);
  }

  /** Returns how many updates epochs of so many micro-steps make. */
  public UpdateCount updateCount(long microStepsPerEpoch) {
    return new UpdateCount(workers.accumulation(), microStepsPerEpoch);
  }

  /** Returns the key of the technique that decides where windows end, if one does. */
  public Optional<String> accumulationTechnique() {
    return accumulationTechnique;
  }

  /** Returns what techniques do in forward passes, in words; empty where none does anything. */
  public Optional<String> forwardTechniques() {
    return forwardTechniques;
  }

  @Override
  public void remember(RunState state) {
    settle();
    var shared = state.shared().part("step");
    step = step.remembered(shared);
    updates = shared.number("updates", updates);
    // Workers first: they may have to bring the ranks' sums to one scale before these are saved.
    workers.remember(state);
    rememberWindow(state);
  }

  private void rememberWindow(RunState state) {
    if (!step.endsWindow()) {
      if (state.isSaving()) {
        endMicroStep();
      }
      // Gradients at parameters of a rank's own, in its own loss scale, are of no use to others.
      boolean isOwn = workers.sync().letsRanksDiffer();
      passes.remember(state, isOwn ? state.own() : state.summed());
    } else if (!state.isSaving()) {
      passes.clear();
    }
  }

  @Override
  public void close() {
    passes.close();
    workers.close();
  }
}
