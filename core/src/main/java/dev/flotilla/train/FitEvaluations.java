package dev.flotilla.train;

import dev.flotilla.control.JobLink;
import dev.flotilla.pass.Evaluation;
import java.util.Optional;

/**
 * The evaluations of a fit: makes them when they are due or asked for, and lets decisions and
 * callbacks see each.
 */
final class FitEvaluations {

  private final TrainerParts parts;
  private final LoopSettings loop;
  private final FitProgress progress;
  private final Callbacks callbacks;
  private final FitLog log;
  private final FitSaves saves;
  private final JobLink link;
  private final Stopwatch training;

  /**
   * Creates them.
   *
   * @param saves keep the best, and end a fit that is stopped meanwhile
   * @param link is told when one begins
   * @param training stands still meanwhile
   */
  FitEvaluations(TrainerParts parts, FitLog log, FitSaves saves, JobLink link, Stopwatch training) {
    this.parts = parts;
    this.loop = parts.settings().loop();
    this.progress = parts.progress();
    this.callbacks = parts.callbacks();
    this.log = log;
    this.saves = saves;
    this.link = link;
    this.training = training;
  }

  /** An evaluation between two updates that a stop cut short comes first when the run goes on. */
  void makeUp() {
    long updates = parts.steps().updates();
    boolean isMissing = updates > progress.firstUpdate && progress.evaluatedAt != updates;
    if (isMissing && (isDueAfter(updates) || callbacks.isEvaluationAsked())) {
      evaluate(progress.epoch);
      saves.afterUpdate();
    }
  }

  void afterUpdate(int epoch) {
    long updates = parts.steps().updates();
    if (isDueAfter(updates) && progress.evaluatedAt != updates) {
      evaluate(epoch);
    }
  }

  /** Tells whether an evaluation follows so many updates. */
  boolean isDueAfter(long updates) {
    return loop.evaluateEvery().isDueAfter(updates);
  }

  void afterEpoch(int epoch) {
    boolean isMade = !callbacks.areNone() && progress.evaluatedAt == parts.steps().updates();
    if (loop.evaluateEvery().isDueAfterEpoch() && !isMade) {
      evaluate(epoch);
    }
  }

  /** Evaluates what has not been evaluated. */
  void end(int epoch) {
    if (progress.evaluatedAt != parts.steps().updates()) {
      evaluate(epoch);
    }
  }

  /** Does what callbacks have asked for, and all ranks have heard. */
  void heed(int epoch) {
    if (callbacks.isEvaluationAsked() && progress.evaluatedAt != parts.steps().updates()) {
      evaluate(epoch);
    }
    callbacks.evaluationIsMade();
    stopIfACallbackAsks();
  }

  private void stopIfACallbackAsks() {
    callbacks
        .stopAsked()
        .ifPresent(reason -> parts.decisions().stop(reason, parts.steps().updates()));
  }

  private void evaluate(int epoch) {
    if (loop.testData() == null) {
      return;
    }
    link.doing("evaluating");
    training.stop();
    callbacks.beforeEvaluation();
    Optional<Evaluation> result = parts.evaluations().onLoopData(link::isStopDecided);
    training.start(training.seconds());
    if (result.isEmpty()) {
      throw saves.stop();
    }
    progress.evaluation = result;
    progress.evaluatedAt = parts.steps().updates();
    log.evaluated(epoch, result.orElseThrow());
    parts.decisions().after(result.orElseThrow(), parts.position());
    saves.keepBest();
    callbacks.afterEvaluation(result.orElseThrow());
    stopIfACallbackAsks();
  }
}
