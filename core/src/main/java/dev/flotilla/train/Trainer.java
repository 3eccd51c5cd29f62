package dev.flotilla.train;

import dev.flotilla.checkpoint.Position;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.collective.TrafficCount;
import dev.flotilla.control.JobLink;
import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.CpuThreads;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.pass.Evaluator;
import dev.flotilla.pass.OutOfMemoryException;
import dev.flotilla.pass.RunningStatistics;
import dev.flotilla.pass.SegmentChain;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.MicroSteps;
import dev.flotilla.step.OptimizerUpdate;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.step.StepPlan;
import dev.flotilla.step.UpdateCount;
import dev.flotilla.step.UpdateSettings;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Trains a model on one rank, together with the other ranks of its world.
 *
 * <pre>{@code
 * try (var trainer = Trainer.on(World.join())
 *         .model(new LeNet5(10))
 *         .optimizer(new Momentum(0.01, 0.9))
 *         .build()) {
 *     var result = trainer.fit(Mnist.train(folder).batches(32).shuffled(seed), 10);
 *     System.out.println(result.accuracyOn(Mnist.test(folder)));
 * }
 * }</pre>
 *
 * <p>Users who keep their own loop call {@link #step} instead of {@link #fit}. Not thread-safe.
 */
public final class Trainer implements AutoCloseable {

  private final TrainerSettings settings;
  private final Resources resources = new Resources();
  private final Collective collective;
  private final BoundModel model;
  private final SegmentChain chain;
  private final RunningStatistics statistics;
  private final MicroSteps runner;
  private final Replica replica;
  private final AveragedReplica ema;
  private final NumberGuard guard;
  private final FitProgress progress = new FitProgress();
  private final SentBefore sentBefore = new SentBefore();
  private JobLink link = JobLink.ofThisProcess();
  private final LearningRate learningRate;
  private final Callbacks callbacks;
  private final Checkpoints checkpoints;
  private final OwnSteps ownSteps;
  private long epochs;

  Trainer(TrainerSettings settings, StepPlanner.Plan plan) {
    this.settings = settings;
    try {
      plan.warnings().forEach(issue -> note(issue.toString()));
      var start = new CommonStart(settings, resources, this::note);
      collective = start.collective();
      model = start.model();
      chain = resources.own(new SegmentChain(model, settings.seed(), collective.rank()));
      statistics = resources.own(new RunningStatistics(model.buffers(), collective));
      learningRate =
          new LearningRate(
              settings.optimizer(),
              settings.schedule(),
              settings.scheduleUnit(),
              this::epoch,
              settings.microBatch(),
              this::microStepsAfter);
      callbacks = new Callbacks(settings, collective, learningRate);
      runner = resources.own(newRunner(plan.step()));
      callbacks.follow(runner);
      var evaluator = new Evaluator(model, chain, collective, settings.metrics());
      replica = new Replica(model, statistics, runner.sync(), evaluator, collective);
      ema = new AveragedReplica(replica, runner.average(), settings.averageName());
      guard = new NumberGuard(settings.nonFinite(), this::note);
      ownSteps = new OwnSteps(this, settings);
      checkpoints =
          resources.own(
              new Checkpoints(
                  settings.checkpoints(),
                  collective,
                  settings.events(),
                  start.facts(),
                  parts(),
                  settings.runFolder()));
    } catch (RuntimeException failure) {
      resources.closeAfter(failure);
      throw OutOfMemoryException.isMeantBy(failure)
          ? OutOfMemoryException.atStart(failure)
          : failure;
    } catch (Error failure) {
      resources.closeAfter(failure);
      throw failure;
    }
  }

  /** Starts to describe a trainer for a place in a world; {@code World.join()} for this process. */
  public static TrainerBuilder on(World world) {
    return new TrainerBuilder(world);
  }

  private MicroSteps newRunner(StepPlan plan) {
    var update =
        new UpdateSettings(
            settings.optimizer(),
            settings.noDecay(),
            settings.groups(),
            settings.model(),
            this::epoch);
    var context =
        new StepContext(
            model,
            collective,
            () -> OptimizerUpdate.ofAll(model.arena(), update),
            update,
            settings.microBatch(),
            settings.world().localSize(),
            settings.world().nodeRank(),
            settings.nonFinite() == NonFinite.STOP,
            this::note,
            text -> settings.events().on(new TrainingEvent.Measured(text)),
            settings.events());
    return new MicroSteps(plan, context, chain, statistics, learningRate, callbacks::agree);
  }

  private int microStepsAfter(long update) {
    return runner.perWindow(update);
  }

  /** Says how many updates an own loop will make, for schedules that depend on it. */
  public void plannedUpdates(long updates) {
    learningRate.plannedUpdates(updates);
    runner.average().plannedUpdates(updates);
  }

  /** Says how many epochs an own loop will make, for schedules that count them. */
  public void plannedEpochs(long epochs) {
    learningRate.plannedEpochs(epochs);
  }

  /** Lets the rate fall by a factor, but not below a fraction of what it is planned to be. */
  void fall(double by, double least) {
    learningRate.fall(by, least);
  }

  /** Returns the number of the epoch that is under way, from 0. */
  private long epoch() {
    return progress.isUnderWay ? progress.firstEpoch + progress.epoch : ownSteps.epoch();
  }

  /** Runs one micro-batch; all ranks call it equally often, also with an empty batch. */
  public StepOutcome step(Batch batch) {
    return step(batch, false);
  }

  /** Runs one micro-batch and says whether it is the last of an epoch. */
  public StepOutcome step(Batch batch, boolean lastOfEpoch) {
    ownSteps.begin();
    ownSteps.before(batch.samples());
    var outcome = runner.step(batch, lastOfEpoch);
    ownSteps.after(outcome, lastOfEpoch);
    return outcome;
  }

  /**
   * Like {@link #step(Batch)}, but may return while parameters are still on their way from other
   * ranks, so that the next step begins meanwhile. Look at them through {@link #model()}, which
   * waits for them, and not at tensors that were kept from before.
   */
  public StepOutcome stepNonBlocking(Batch batch) {
    ownSteps.begin();
    ownSteps.before(batch.samples());
    var outcome = runner.step(batch, false);
    ownSteps.judge(outcome);
    return outcome;
  }

  /** Runs one micro-batch of a fit, which tells of it itself. */
  StepOutcome stepOfFit(Batch batch, boolean lastOfEpoch) {
    var outcome = runner.step(batch, lastOfEpoch);
    guard.judge(outcome, updates());
    return outcome;
  }

  /** Frees what a step that has failed left behind; the gradients of its window are lost. */
  public void abandonStep() {
    runner.abandon();
  }

  /** Returns the parts of a step for a loop of your own. */
  public OwnLoop ownLoop() {
    return new OwnLoop(runner, ownSteps);
  }

  /** Trains for a number of epochs, or until the loop's limit of updates. */
  public FitResult fit(BatchSource source, int epochs) {
    return new FitLoop(this, settings, source, epochs).run();
  }

  /**
   * Looks for a learning rate: trains with one that grows from update to update until the loss
   * grows too, and puts everything back, so that training goes on as if nothing had been tried.
   * Callbacks are not called. All ranks call it together, between two updates.
   *
   * @return what was seen, with a suggestion in place of the optimizer's rate
   * @throws IllegalStateException inside an accumulation window
   */
  public LearningRates findLearningRate(BatchSource source, LearningRateRange range) {
    if (!isBetweenWindows()) {
      throw new IllegalStateException(
          "an accumulation window is open: look for a learning rate before it, or after its"
              + " update");
    }
    try (var before = new StateCopy(learned())) {
      var found = new LearningRateSearch(this, runner, learningRate, range).run(source);
      if (!isBetweenWindows()) {
        runner.clear();
      }
      before.putBack(learned());
      return found;
    }
  }

  /**
   * Goes on where a checkpoint was saved; all ranks call it together, before the first step.
   *
   * @param from a checkpoint, a folder of checkpoints, or the folder of a run; of several, the
   *     newest is used that every rank can read in full
   * @return the checkpoint, or nothing if there is none
   * @throws dev.flotilla.checkpoint.CheckpointException if it does not fit this trainer
   */
  public Optional<Path> resume(Path from) {
    Optional<SavedCheckpoint> found = checkpoints.resume(from);
    found.flatMap(replica::lostFrom).ifPresent(this::note);
    Optional<Path> checkpoint = found.map(SavedCheckpoint::folder);
    checkpoint.ifPresent(
        folder -> settings.events().on(new TrainingEvent.Resumed(folder.toString(), updates())));
    return checkpoint;
  }

  /**
   * Returns why a run cannot save its checkpoints beside those of another.
   *
   * @param key what named the folder
   */
  public static ConfigException foreignCheckpoints(Path folder, String key) {
    return Saves.foreign(folder, key);
  }

  /**
   * Saves a checkpoint of this moment, also inside an accumulation window; all ranks call it
   * together.
   */
  public void save() {
    settings.events().on(new TrainingEvent.Saved(updates(), microSteps()));
    saveQuietly();
  }

  /** Saves without an event. */
  void saveQuietly() {
    callbacks.beforeSave();
    checkpoints.save(new Position(updates(), microSteps()));
  }

  /** Waits until the last checkpoint is committed. */
  public void awaitSave() {
    checkpoints.await();
  }

  /**
   * Writes the model's weights as one safetensors file, whole and with running statistics averaged
   * over ranks; training goes on as if nothing had been written. All ranks call it together, and
   * rank 0 writes.
   *
   * @throws dev.flotilla.checkpoint.CheckpointException if the file cannot be written
   */
  public void saveModel(Path file) {
    replica.write(file);
  }

  /**
   * Writes the moving average of the weights as {@link #saveModel} writes the weights; all ranks
   * call it together, and rank 0 writes.
   *
   * @throws IllegalStateException if no technique keeps one
   */
  public void saveEma(Path file) {
    ema.write(file);
  }

  Checkpoints checkpoints() {
    return checkpoints;
  }

  private List<Stateful> parts() {
    List<Stateful> parts = new ArrayList<>(learned());
    parts.add(state -> sentBefore.remember(state, collective));
    if (settings.runFolder() != null) {
      parts.add(settings.runFolder());
    }
    return parts;
  }

  /** Returns what training changes. */
  private List<Stateful> learned() {
    List<Stateful> parts = new ArrayList<>();
    parts.addAll(List.of(replica, statistics, runner, chain, progress));
    parts.addAll(List.of(learningRate, callbacks, ownSteps));
    parts.add(replica.own(guard));
    parts.add(state -> epochs = state.shared().number("trainer/epochs", epochs));
    parts.addAll(settings.remembered());
    return parts;
  }

  /**
   * Returns why a callback asks a loop of your own to end, if one does; the same on all ranks. A
   * fit ends by itself.
   */
  public Optional<String> stopAsked() {
    return callbacks.stopAsked();
  }

  Callbacks callbacks() {
    return callbacks;
  }

  /** Tells whether the next micro-step begins an accumulation window. */
  boolean isBetweenWindows() {
    return runner.waiting() == 0;
  }

  NumberGuard guard() {
    return guard;
  }

  /** Compares the parameters of all ranks if that is due after so many updates. */
  void compareRanksAt(long updates) {
    settings.compareEvery().ifPresent(every -> replica.compareAfter(updates, every));
  }

  /** Evaluates on data, over all ranks; all of them call it together. */
  public Evaluation evaluate(Dataset data) {
    callbacks.beforeEvaluation();
    var result = score(data);
    ownSteps.evaluated(result);
    callbacks.afterEvaluation(result);
    return result;
  }

  /**
   * Evaluates on all data that the loop's settings name, over all ranks; all of them call it
   * together.
   *
   * @throws IllegalStateException if they name none
   */
  public Evaluation evaluate() {
    callbacks.requireData();
    callbacks.beforeEvaluation();
    var result = scoreLoop(() -> false).orElseThrow();
    ownSteps.evaluated(result);
    callbacks.afterEvaluation(result);
    return result;
  }

  /** Evaluates without an event. */
  Evaluation score(Dataset data) {
    return scoreUnless(() -> false, data).orElseThrow();
  }

  /** Evaluates without an event, unless a rank gives up meanwhile; then all of them do. */
  Optional<Evaluation> scoreUnless(BooleanSupplier givesUp, Dataset data) {
    return ema.evaluate(data, settings.loop().evaluationBatch(), givesUp);
  }

  /** Evaluates on all data of the loop's settings, without an event, unless a rank gives up. */
  Optional<Evaluation> scoreLoop(BooleanSupplier givesUp) {
    var loop = settings.loop();
    var all = scoreUnless(givesUp, Objects.requireNonNull(loop.testData()));
    for (var other : loop.others().entrySet()) {
      var name = other.getKey();
      var data = other.getValue();
      all = all.flatMap(it -> scoreUnless(givesUp, data).map(more -> it.with(name, more)));
    }
    return all;
  }

  /**
   * Gives all ranks all parameters: their average, where a technique lets them differ, or what each
   * holds a slice of; all of them call it together. {@link #fit} ends with the average, but leaves
   * slices where they are.
   */
  public void averageParameters() {
    runner.sync().average();
  }

  /** Gives all ranks the same running statistics, in place; all of them call it together. */
  public void averageStatistics() {
    statistics.average();
  }

  /** Returns the model with its parameters and buffers. */
  public BoundModel model() {
    model.gate().settle();
    return model;
  }

  /**
   * Reads the model with all its parameters, averaged where ranks differ and gathered where each
   * holds slices; training goes on as if nobody had looked. All ranks call it together.
   *
   * @param action must not change the model
   */
  public <T> T read(Function<BoundModel, T> action) {
    return runner.sync().whileAveraged(() -> action.apply(model()));
  }

  /**
   * Reads the model with the moving average in place of its parameters, as {@link #saveEma} writes
   * it; until averaging begins they are the same. All ranks call it together.
   *
   * @param action must not change the model
   * @throws IllegalStateException if no technique keeps one
   */
  public <T> T readEma(Function<BoundModel, T> action) {
    return ema.read(action);
  }

  /** Returns the group of all ranks. */
  public Collective collective() {
    return collective;
  }

  /** Returns the number of updates made. */
  public long updates() {
    return runner.updates();
  }

  /** Returns the number of micro-steps made. */
  public long microSteps() {
    return runner.count();
  }

  /** Returns what this rank has sent, in all attempts at this run. */
  public TrafficCount sent(Traffic traffic) {
    return sentBefore.plus(traffic, collective);
  }

  /** Returns the number of epochs made; a second fit goes on where the first one ended. */
  long epochs() {
    return epochs;
  }

  void epochs(long made) {
    epochs = made;
  }

  FitProgress progress() {
    return progress;
  }

  JobLink link() {
    return link;
  }

  /** Listens to somebody else than this process's launcher; for tests. */
  void link(JobLink other) {
    link = other;
  }

  UpdateCount updateCount(long microStepsPerEpoch) {
    return runner.updateCount(microStepsPerEpoch);
  }

  /** Returns what techniques and decisions have to say in the run's summary. */
  public Map<String, Object> metrics() {
    Map<String, Object> all = new LinkedHashMap<>(runner.metrics());
    all.putAll(new FitDecisions(settings, progress, this::fall).forSummary());
    all.putAll(callbacks.forSummary());
    return all;
  }

  /** Ends a fit: ranks whose parameters differ get their average. */
  void endTraining() {
    runner.sync().end();
  }

  /** Returns a digest of the weights; all ranks call it together. */
  String weightsDigest() {
    return replica.digest();
  }

  /** Returns a digest of the moving average, if there is one; all ranks call it together. */
  Optional<String> emaDigest() {
    return ema.digest();
  }

  SegmentChain chain() {
    return chain;
  }

  private void note(String text) {
    settings.events().on(new TrainingEvent.Noted(text));
  }

  @Override
  public void close() {
    resources.close();
  }

  /** Returns how this rank's operations share the cores of the host. */
  CpuThreads cpuThreads() {
    return settings.cpuThreads();
  }
}
