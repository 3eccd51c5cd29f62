package dev.flotilla.train;

import dev.flotilla.data.BatchSource;
import dev.flotilla.data.RankShard;
import dev.flotilla.engine.Evaluation;
import dev.flotilla.engine.StepOutcome;
import dev.flotilla.engine.UpdateCount;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Score;
import dev.flotilla.report.TrainingEvent;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The loop of {@link Trainer#fit}: epochs, micro-steps, logged updates and evaluations. */
final class FitLoop {

  private final Trainer trainer;
  private final TrainerBuilder settings;
  private final LoopSettings loop;
  private final BatchSource source;
  private final int epochs;
  private final int ranks;
  private final long firstUpdate;
  private final long lastUpdate;
  private final Stopwatch training = new Stopwatch();

  private long samples;
  private long samplesAtLastLog;
  private double secondsAtLastLog;
  private double loss = Double.NaN;
  private Optional<Evaluation> evaluation = Optional.empty();
  private long evaluatedAt = -1;

  FitLoop(Trainer trainer, TrainerBuilder settings, BatchSource source, int epochs) {
    this.trainer = trainer;
    this.settings = settings;
    this.loop = settings.loop;
    this.source = source;
    this.ranks = settings.world.size();
    this.firstUpdate = trainer.updates();
    var count = trainer.updateCount(source.batchesPerEpoch(ranks));
    long limit = loop.maxUpdates();
    this.epochs = limit > 0 ? epochsFor(limit, count) : epochs;
    this.lastUpdate = firstUpdate + (limit > 0 ? limit : count.in(epochs));
  }

  private static int epochsFor(long limit, UpdateCount count) {
    var epochs = count.epochsFor(limit);
    if (epochs.isEmpty()) {
      throw new IllegalStateException("an epoch has too few micro-steps to make any update");
    }
    return Math.toIntExact(epochs.getAsLong());
  }

  FitResult run() {
    trainer.plannedUpdates(lastUpdate);
    settings.sink.on(
        new TrainingEvent.Started(
            ranks, trainer.model().parameterCount(), lastUpdate - firstUpdate, epochs));
    training.start();
    for (int epoch = 0; epoch < epochs; epoch++) {
      runEpoch(epoch);
    }
    if (evaluatedAt != trainer.updates()) {
      evaluate(epochs - 1);
    }
    training.stop();
    return new FitResult(
        trainer, trainer.updates() - firstUpdate, samples, loss, training.seconds(), evaluation);
  }

  private boolean isDone() {
    return loop.maxUpdates() > 0 && trainer.updates() >= lastUpdate;
  }

  private void runEpoch(int epoch) {
    long updatesBefore = trainer.updates();
    double secondsBefore = training.seconds();
    var shard = source.epoch(trainer.nextEpoch(), settings.world.rank(), ranks);
    for (long i = 0; i < shard.batches() && !isDone(); i++) {
      var outcome = runStep(shard, i);
      samples += shard.globalSize(i);
      if (outcome.step().isBoundary()) {
        loss = outcome.totals().meanLoss();
      }
      if (outcome.updated()) {
        afterUpdate(epoch, outcome);
      }
    }
    settings.sink.on(
        new TrainingEvent.EpochEnded(
            epoch, trainer.updates() - updatesBefore, training.seconds() - secondsBefore));
    if (loop.evaluateEvery() == LoopSettings.EACH_EPOCH) {
      evaluate(epoch);
    }
  }

  private StepOutcome runStep(RankShard shard, long index) {
    trainer.chain().score(isLogged(trainer.updates() + 1));
    try (var _ = TensorScope.open()) {
      return trainer.step(shard.load(index), index + 1 == shard.batches());
    }
  }

  private boolean isLogged(long update) {
    return update % loop.logEvery() == 0 || update == lastUpdate;
  }

  private void afterUpdate(int epoch, StepOutcome outcome) {
    if (isLogged(trainer.updates())) {
      log(epoch, outcome);
    }
    if (loop.evaluateEvery() > 0 && trainer.updates() % loop.evaluateEvery() == 0) {
      evaluate(epoch);
    }
  }

  private void log(int epoch, StepOutcome outcome) {
    double seconds = training.seconds();
    double rate = (samples - samplesAtLastLog) / Math.max(1e-9, seconds - secondsAtLastLog);
    samplesAtLastLog = samples;
    secondsAtLastLog = seconds;
    Score score = trainer.chain().lastScore();
    settings.sink.on(
        new TrainingEvent.Updated(
            epoch,
            trainer.updates(),
            trainer.microSteps(),
            loss,
            outcome.lr(),
            orNull(score.acc1()),
            orNull(score.acc5()),
            rate));
  }

  private void evaluate(int epoch) {
    var data = loop.testData();
    if (data == null) {
      return;
    }
    training.stop();
    var result = trainer.evaluate(data);
    evaluation = Optional.of(result);
    evaluatedAt = trainer.updates();
    settings.sink.on(
        new TrainingEvent.Evaluated(
            epoch,
            trainer.updates(),
            result.loss(),
            orNull(result.score().acc1()),
            orNull(result.score().acc5()),
            result.samples()));
    training.start();
  }

  private static @Nullable Double orNull(double accuracy) {
    return Double.isNaN(accuracy) ? null : accuracy;
  }

  /** Adds up the time between starts and stops. */
  private static final class Stopwatch {

    private long nanos;
    private long startedAt;
    private boolean running;

    void start() {
      startedAt = System.nanoTime();
      running = true;
    }

    void stop() {
      nanos += running ? System.nanoTime() - startedAt : 0;
      running = false;
    }

    double seconds() {
      return (nanos + (running ? System.nanoTime() - startedAt : 0)) / 1e9;
    }
  }
}
