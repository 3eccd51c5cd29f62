package dev.flotilla.train;

import dev.flotilla.pass.Evaluation;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.StepOutcome;
import java.util.function.Supplier;

/**
 * What follows the steps of a loop of the user's own, so that it gives the events, and keeps the
 * watch over numbers and ranks, that a fit does.
 */
final class OwnSteps implements Stateful {

  private final TrainerParts parts;
  private final TrainerSettings settings;
  private final Callbacks callbacks;
  private final FitProgress progress = new FitProgress();
  private final FitLog log;
  private final Stopwatch training = new Stopwatch();
  private boolean isUnderWay;

  OwnSteps(TrainerParts parts) {
    this.parts = parts;
    this.settings = parts.settings();
    this.callbacks = parts.callbacks();
    this.log = new FitLog(parts, progress, () -> 0);
  }

  /** Returns the number of the epoch that is under way, from 0. */
  long epoch() {
    return progress.epoch;
  }

  /**
   * Refuses what only a fit can do.
   *
   * @throws IllegalStateException if windows that are not finite call for a checkpoint
   */
  void requireNoRollback() {
    if (settings.nonFinite() == NonFinite.ROLLBACK) {
      throw new IllegalStateException(
          "nonFinite(ROLLBACK) goes back to a checkpoint and on with other data, which only fit"
              + " can do: call fit, or set SKIP or STOP");
    }
    if (settings.schedule() instanceof Plateau) {
      throw new IllegalStateException(
          "a Plateau looks at the evaluations of a fit, and would never fall in a loop of your own:"
              + " call fit, or scale the rate in a callback");
    }
  }

  /** Begins with the first micro-step: until then, a checkpoint may be taken up. */
  void begin() {
    requireNoRollback();
    if (!isUnderWay) {
      isUnderWay = true;
      parts.checkpoints().begin();
      progress.updatesBeforeEpoch = parts.steps().updates();
      training.start(0);
    }
    if (parts.steps().isBetweenWindows()) {
      callbacks.beforeEpoch(progress.epoch);
      heed();
      callbacks.beforeStep();
    }
  }

  /** Makes the evaluation that a callback has asked for. */
  private void heed() {
    if (callbacks.isEvaluationAsked()) {
      evaluate();
    }
  }

  /** Evaluates on all data of the loop's settings, and tells of it. */
  Evaluation evaluate() {
    callbacks.requireData();
    return evaluate(parts.evaluations()::onLoopData);
  }

  /** Evaluates, and tells of it. */
  Evaluation evaluate(Supplier<Evaluation> action) {
    callbacks.beforeEvaluation();
    var result = action.get();
    log.evaluated(progress.epoch, result);
    callbacks.afterEvaluation(result);
    return result;
  }

  /** Prepares for a micro-batch of this rank; the others are taken to have as many samples. */
  void before(int samples) {
    parts.chain().score(isLogged(parts.steps().expectedUpdates() + 1));
    progress.samples += (long) samples * parts.collective().size();
  }

  /** Judges what a step did, tells of it, and compares ranks where that is due. */
  void after(StepOutcome outcome, boolean lastOfEpoch) {
    // Whoever keeps a loop may look at parameters between two steps.
    parts.model().gate().settle();
    judge(outcome);
    if (lastOfEpoch) {
      endEpoch();
    }
  }

  /** Judges what a step did and tells of it; parameters may still be on their way. */
  void judge(StepOutcome outcome) {
    outcome.whenKnown(parts::judge);
    if (outcome.step().isBoundary() && outcome.totals().count() > 0) {
      progress.totals = outcome.totals();
    }
    if (canWait(outcome)) {
      logIfDue(outcome, parts.steps().expectedUpdates());
      return;
    }
    if (outcome.updated()) {
      logIfDue(outcome, parts.steps().updates());
      parts.compareRanksIfDue();
    }
    if (outcome.step().endsWindow()) {
      callbacks.afterStep(outcome);
      heed();
    }
  }

  /**
   * Tells whether nothing follows the step but a look at what the device finds in it, and a line in
   * the log.
   */
  private boolean canWait(StepOutcome outcome) {
    return !outcome.isKnown() && callbacks.areNone();
  }

  private void logIfDue(StepOutcome outcome, long update) {
    if (isLogged(update)) {
      log.updated(progress.epoch, outcome, training);
    }
  }

  private boolean isLogged(long update) {
    return settings.loop().logEvery().isDueAfter(update);
  }

  /** Ends an epoch of the loop. */
  void endEpoch() {
    callbacks.afterEpoch();
    heed();
    settings
        .events()
        .on(
            new TrainingEvent.EpochEnded(
                progress.epoch,
                parts.steps().updates() - progress.updatesBeforeEpoch,
                training.seconds() - progress.secondsBeforeEpoch));
    progress.nextEpoch(parts.steps().updates(), training.seconds());
  }

  @Override
  public void remember(RunState state) {
    var loop = state.shared().part("own_loop");
    // Earlier versions counted epochs anew.
    if (loop.has("epoch")) {
      progress.epoch = Math.toIntExact(loop.number("epoch", progress.epoch));
    }
  }
}
