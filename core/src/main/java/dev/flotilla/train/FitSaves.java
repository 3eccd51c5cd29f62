package dev.flotilla.train;

import dev.flotilla.control.JobLink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.step.NumericalException;
import dev.flotilla.step.StepOutcome;

/** The checkpoints of a fit: saves them when they are due, and goes back to the last one. */
final class FitSaves {

  private static final int MOST_ROLLBACKS = 3;

  private final TrainerParts parts;
  private final Checkpoints checkpoints;
  private final FitProgress progress;
  private final Every every;
  private final JobLink link;
  private final Stopwatch training;
  private int rollbacks;

  /**
   * Creates them.
   *
   * @param link is told when a save begins
   * @param training stands still meanwhile
   */
  FitSaves(TrainerParts parts, JobLink link, Stopwatch training) {
    this.parts = parts;
    this.checkpoints = parts.checkpoints();
    this.progress = parts.progress();
    this.link = link;
    this.training = training;
    var settings = parts.settings().checkpoints();
    this.every = settings == null ? Every.end() : settings.every();
  }

  void begin() {
    checkpoints.begin();
    keepBest();
  }

  /** Lets the best checkpoint so far outlive newer ones. */
  void keepBest() {
    if (progress.best.isKnown()) {
      checkpoints.keepBest(progress.best.position());
    }
  }

  /** Tells whether a checkpoint follows so many updates. */
  boolean isDueAfter(long updates) {
    return every.isDueAfter(updates) || progress.isBestNow;
  }

  void afterUpdate() {
    if (isDueAfter(parts.steps().updates())) {
      saveAsPlanned();
    }
  }

  void afterEpoch() {
    if (every.isDueAfterEpoch() || progress.isBestNow) {
      saveAsPlanned();
    }
  }

  /** Saves the end, and waits until it is committed. */
  void end() {
    if (isNewerThanSaved()) {
      saveAsPlanned();
    }
    checkpoints.await();
  }

  /** Saves the place that a stop leaves, and returns what tells of the stop. */
  StoppedException stop() {
    if (isNewerThanSaved()) {
      save();
    }
    checkpoints.await();
    return new StoppedException(
        parts.steps().updates(), checkpoints.areOn() ? parts.settings().checkpoints() : null);
  }

  private boolean isNewerThanSaved() {
    return progress.savedAt != parts.steps().count();
  }

  /** A save that every attempt at this run makes, so that it is among the run's events. */
  private void saveAsPlanned() {
    if (checkpoints.areOn()) {
      var now = parts.position();
      parts.settings().events().on(new TrainingEvent.Saved(now.updates(), now.microSteps()));
      save();
    }
  }

  private void save() {
    if (!checkpoints.areOn()) {
      return;
    }
    link.doing("saving a checkpoint");
    progress.seconds = training.seconds();
    progress.savedAt = parts.steps().count();
    progress.isBestNow = false;
    training.stop();
    rollbacks = 0;
    parts.save();
    training.start(progress.seconds);
  }

  /** The state goes back, the place in the data does not: the same data would fail again. */
  void rollBack(StepOutcome outcome) {
    rollbacks++;
    var why =
        "after update %d %s".formatted(parts.steps().updates(), outcome.notFinite().orElse(""));
    if (rollbacks > MOST_ROLLBACKS) {
      throw new NumericalException(
          why + ", again after %d rollbacks without a new checkpoint".formatted(MOST_ROLLBACKS));
    }
    int epoch = progress.epoch;
    long index = progress.index;
    checkpoints.rollBack(why);
    progress.epoch = epoch;
    progress.index = index;
  }
}
