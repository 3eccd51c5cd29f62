package dev.flotilla.train;

import dev.flotilla.control.JobLink;
import dev.flotilla.data.BatchLoader;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.EpochSource;
import dev.flotilla.data.RankShard;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.step.NumericalException;
import dev.flotilla.step.StepOutcome;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The loop of {@link Trainer#fit}: epochs, micro-steps, logged updates, evaluations, saves. */
final class FitLoop {

  /** More in a row than a stream has by chance. */
  private static final long MOST_EMPTY_WINDOWS = 100_000;

  private final Trainer trainer;
  private final TrainerParts parts;
  private final TrainerSettings settings;
  private final LoopSettings loop;
  private final EpochSource source;
  private final FitLength length;
  private final int ranks;
  private final long lastUpdate;
  private final FitProgress progress;
  private final JobLink link;
  private final FitLog log;
  private final Callbacks callbacks;
  private final Stopwatch training = new Stopwatch();
  private final FitSaves saves;
  private final FitEvaluations evaluations;
  private long emptyWindows;
  private double dataWait;
  private @Nullable BatchLoader loading;

  FitLoop(Trainer trainer, EpochSource source, int epochs) {
    this.trainer = trainer;
    this.parts = trainer.parts();
    this.settings = parts.settings();
    this.loop = settings.loop();
    this.source = source;
    this.ranks = settings.world().size();
    this.progress = parts.progress();
    this.link = trainer.link();
    this.log = new FitLog(parts, progress, this::dataWait);
    this.callbacks = parts.callbacks();
    this.saves = new FitSaves(parts, link, training);
    this.evaluations = new FitEvaluations(parts, log, saves, link, training);
    parts.decisions().requireEvaluations();
    if (progress.isUnderWay) {
      progress.continueWith(source, ranks);
    } else {
      progress.begin(parts.epochs(), trainer.updates(), source, ranks);
      callbacks.begin();
    }
    this.length = length(epochs);
    this.lastUpdate = progress.firstUpdate + length.updates();
  }

  private FitLength length(int epochs) {
    var known = source.knownBatches(ranks);
    if (known.isEmpty()) {
      return FitLength.ofStream(epochs, loop.maxUpdates(), settings);
    }
    long microSteps = known.getAsLong();
    return FitLength.of(
        epochs, loop.maxUpdates(), microSteps, parts.steps().updateCount(microSteps));
  }

  /** Trains; whoever asks for a stop before or after ends the process as always. */
  FitResult run() {
    try {
      return train();
    } finally {
      link.close();
    }
  }

  private FitResult train() {
    saves.begin();
    if (length.isKnown()) {
      trainer.plannedUpdates(lastUpdate);
    }
    trainer.plannedEpochs(progress.firstEpoch + length.epochs());
    settings
        .events()
        .on(
            new TrainingEvent.Started(
                ranks,
                trainer.model().parameterCount(),
                length.isKnown() ? length.updates() : 0,
                length.epochs()));
    training.start(progress.seconds);
    log.begin(progress.seconds);
    noteIfLessIsAsked();
    evaluations.makeUp();
    boolean goesOn = true;
    while (goesOn && hasMore()) {
      goesOn = runEpoch();
    }
    evaluations.end(begun() - 1);
    training.stop();
    saves.end();
    training.start(training.seconds());
    parts.steps().sync().end();
    training.stop();
    progress.isUnderWay = false;
    parts.epochs(progress.firstEpoch + begun());
    return new FitResult(
        trainer,
        trainer.updates() - progress.firstUpdate,
        progress.samples,
        progress.loss(),
        training.seconds(),
        dataWait,
        log.ledger(training.seconds()).byName(),
        damagedSamples(),
        progress.evaluation);
  }

  private OptionalLong damagedSamples() {
    var damaged =
        source instanceof BatchSource batches
            ? DamagedSamples.in(batches.dataset(), trainer.collective())
            : OptionalLong.empty();
    damaged.ifPresent(
        count -> {
          if (count > 0) {
            settings.events().on(new TrainingEvent.Noted(DamagedSamples.text(count)));
          }
        });
    return damaged;
  }

  /** Returns for how long this rank has waited for data. */
  private double dataWait() {
    return dataWait + (loading == null ? 0 : loading.waitedSeconds());
  }

  private boolean isDone() {
    return progress.isStopped || isAtLastUpdate();
  }

  /** Asks for the exact number only where it may be the last: it may have to be waited for. */
  private boolean isAtLastUpdate() {
    return loop.maxUpdates() > 0
        && parts.steps().expectedUpdates() >= lastUpdate
        && trainer.updates() >= lastUpdate;
  }

  /**
   * A limit counts the updates that were made, so windows that were left out cost more epochs. An
   * epoch that has begun is looked at again: all that is left of it may be its end.
   */
  private boolean hasMore() {
    if (progress.isStopped) {
      return false;
    }
    return loop.maxUpdates() > 0
        ? !isDone() || progress.index > 0
        : progress.epoch < length.epochs();
  }

  /** Returns the epochs that were begun. */
  private int begun() {
    return progress.epoch + (progress.index > 0 ? 1 : 0);
  }

  private void noteIfLessIsAsked() {
    if (trainer.updates() > lastUpdate) {
      settings
          .events()
          .on(
              new TrainingEvent.Noted(
                  "nothing is left to train: the checkpoint was saved after update %d, and %d are asked for"
                      .formatted(trainer.updates(), lastUpdate)));
    }
  }

  /** Returns whether it came to the epoch's end; if not, a run asked for more goes on inside it. */
  private boolean runEpoch() {
    int epoch = progress.epoch;
    var shard = source.epoch(progress.firstEpoch + epoch, settings.world().rank(), ranks);
    boolean isOver;
    try (var loader = shard.loader().pinned(trainer.model().device().isCuda())) {
      loading = loader;
      runSteps(epoch, shard, loader);
      dataWait = dataWait();
      loading = null;
      isOver = !shard.has(progress.index);
    }
    if (!isOver) {
      return false;
    }
    evaluations.afterEpoch(epoch);
    callbacks.afterEpoch();
    evaluations.heed(epoch);
    settings
        .events()
        .on(
            new TrainingEvent.EpochEnded(
                epoch,
                trainer.updates() - progress.updatesBeforeEpoch,
                training.seconds() - progress.secondsBeforeEpoch));
    progress.nextEpoch(trainer.updates(), training.seconds());
    saves.afterEpoch();
    return true;
  }

  private void runSteps(int epoch, RankShard shard, BatchLoader loader) {
    while (!isDone() && shard.has(progress.index)) {
      if (parts.steps().isBetweenWindows()) {
        callbacks.beforeEpoch(epoch);
        evaluations.heed(epoch);
        if (progress.isStopped) {
          return;
        }
        callbacks.beforeStep();
      }
      var outcome = runStep(shard, loader, progress.index);
      progress.samples += shard.globalSize(progress.index);
      progress.index++;
      if (outcome.step().isBoundary()) {
        // A rank without a sample in a ragged last batch has no loss of its own there.
        if (outcome.totals().count() > 0) {
          progress.totals = outcome.totals();
        }
      }
      if (canWait(outcome, shard)) {
        emptyWindows = 0;
        logIfDue(epoch, outcome, parts.steps().expectedUpdates());
        stopIfAsked();
        continue;
      }
      if (outcome.step().isBoundary()) {
        requireTerms(outcome);
      }
      if (outcome.updated()) {
        afterUpdate(epoch, outcome);
      }
      if (outcome.step().endsWindow()) {
        callbacks.afterStep(outcome);
        evaluations.heed(epoch);
      }
      if (outcome.updated()) {
        evaluations.afterUpdate(epoch);
        saves.afterUpdate();
      }
      if (parts.guard().callsForRollback(outcome)) {
        saves.rollBack(outcome);
      }
      stopIfAsked();
    }
  }

  /**
   * Tells whether nothing follows the step but a look at what the device finds in it, and a line in
   * the log, which come before the next backward.
   */
  private boolean canWait(StepOutcome outcome, RankShard shard) {
    long updates = parts.steps().expectedUpdates();
    return !outcome.isKnown()
        && callbacks.areNone()
        && settings.nonFinite() != NonFinite.ROLLBACK
        && !evaluations.isDueAfter(updates)
        && !saves.isDueAfter(updates)
        && shard.has(progress.index);
  }

  /** A limit of updates is never reached with data that hold nothing to learn from. */
  private void requireTerms(StepOutcome outcome) {
    boolean isEmpty = !outcome.updated() && outcome.totals().count() == 0;
    emptyWindows = isEmpty ? emptyWindows + 1 : 0;
    if (loop.maxUpdates() > 0
        && emptyWindows > source.knownBatches(ranks).orElse(MOST_EMPTY_WINDOWS)) {
      throw new NumericalException(
          "%d windows in a row, a whole epoch of them, had no loss term: max_steps %d is never reached"
                  .formatted(emptyWindows, loop.maxUpdates())
              + "; look at the targets of the data");
    }
  }

  private StepOutcome runStep(RankShard shard, BatchLoader loader, long index) {
    link.begin(trainer.microSteps(), parts.steps().expectedUpdates());
    parts.chain().score(isLogged(parts.steps().expectedUpdates() + 1));
    try (var _ = TensorScope.open()) {
      var outcome = parts.steps().step(loader.load(index), shard.isLast(index));
      outcome.whenKnown(parts::judge);
      return outcome;
    }
  }

  private boolean isLogged(long update) {
    return loop.logEvery().isDueAfter(update) || update == lastUpdate;
  }

  private void afterUpdate(int epoch, StepOutcome outcome) {
    logIfDue(epoch, outcome, trainer.updates());
    parts.compareRanksIfDue();
  }

  private void logIfDue(int epoch, StepOutcome outcome, long update) {
    if (isLogged(update)) {
      log.updated(epoch, outcome, training);
    }
  }

  /** All ranks stop after the same micro-step, wherever it lies in a window. */
  private void stopIfAsked() {
    if (link.stopsAfter(trainer.microSteps() - 1)) {
      throw saves.stop();
    }
  }
}
