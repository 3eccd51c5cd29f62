package dev.flotilla.train;

import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.collective.TrafficCount;
import dev.flotilla.control.JobLink;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.EpochSource;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
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

  private JobLink link = JobLink.ofThisProcess();
  private final TrainerParts parts;

  Trainer(TrainerSettings settings, StepPlanner.Plan plan) {
    parts = new TrainerParts(settings, plan);
  }

  /** Starts to describe a trainer for a place in a world; {@code World.join()} for this process. */
  public static TrainerBuilder on(World world) {
    return new TrainerBuilder(world);
  }

  /** Says how many updates an own loop will make, for schedules that depend on it. */
  public void plannedUpdates(long updates) {
    parts.learningRate().plannedUpdates(updates);
    parts.steps().average().plannedUpdates(updates);
  }

  /** Says how many epochs an own loop will make, for schedules that count them. */
  public void plannedEpochs(long epochs) {
    parts.learningRate().plannedEpochs(epochs);
  }

  /** Runs one micro-batch; all ranks call it equally often, also with an empty batch. */
  public StepOutcome step(Batch batch) {
    return step(batch, false);
  }

  /** Runs one micro-batch and says whether it is the last of an epoch. */
  public StepOutcome step(Batch batch, boolean lastOfEpoch) {
    parts.ownSteps().begin();
    parts.ownSteps().before(batch.samples());
    var outcome = parts.steps().step(batch, lastOfEpoch);
    parts.ownSteps().after(outcome, lastOfEpoch);
    return outcome;
  }

  /**
   * Like {@link #step(Batch)}, but may return while parameters are still on their way from other
   * ranks, so that the next step begins meanwhile. Look at them through {@link #model()}, which
   * waits for them, and not at tensors that were kept from before.
   */
  public StepOutcome stepNonBlocking(Batch batch) {
    parts.ownSteps().begin();
    parts.ownSteps().before(batch.samples());
    var outcome = parts.steps().step(batch, false);
    parts.ownSteps().judge(outcome);
    return outcome;
  }

  /** Frees what a step that has failed left behind; the gradients of its window are lost. */
  public void abandonStep() {
    parts.steps().abandon();
  }

  /** Returns the parts of a step for a loop of your own. */
  public OwnLoop ownLoop() {
    return new OwnLoop(parts.steps(), parts.ownSteps());
  }

  /** Trains for a number of epochs, or until the loop's limit of updates. */
  public FitResult fit(EpochSource source, int epochs) {
    return new FitLoop(this, source, epochs).run();
  }

  /**
   * Looks for a learning rate: trains with one that grows from update to update until the loss
   * grows too, and puts everything back, so that training goes on as if nothing had been tried.
   * Callbacks are not called. All ranks call it together, between two updates.
   *
   * @return what was seen, with a suggestion in place of the optimizer's rate
   * @throws IllegalStateException inside an accumulation window
   */
  public LearningRates findLearningRate(EpochSource source, LearningRateRange range) {
    return new LearningRateSearch(parts, range).run(source);
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
    Optional<SavedCheckpoint> found = parts.checkpoints().resume(from);
    found.flatMap(parts.replica()::lostFrom).ifPresent(parts::note);
    Optional<Path> checkpoint = found.map(SavedCheckpoint::folder);
    checkpoint.ifPresent(
        folder ->
            parts.settings().events().on(new TrainingEvent.Resumed(folder.toString(), updates())));
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
    parts.settings().events().on(new TrainingEvent.Saved(updates(), microSteps()));
    parts.save();
  }

  /** Waits until the last checkpoint is committed. */
  public void awaitSave() {
    parts.checkpoints().await();
  }

  /**
   * Writes the model's weights as one safetensors file, whole and with running statistics averaged
   * over ranks; training goes on as if nothing had been written. All ranks call it together, and
   * rank 0 writes.
   *
   * @throws dev.flotilla.checkpoint.CheckpointException if the file cannot be written
   */
  public void saveModel(Path file) {
    parts.replica().write(file);
  }

  /**
   * Writes the moving average of the weights as {@link #saveModel} writes the weights; all ranks
   * call it together, and rank 0 writes.
   *
   * @throws IllegalStateException if no technique keeps one
   */
  public void saveEma(Path file) {
    parts.ema().write(file);
  }

  /**
   * Returns why a callback asks a loop of your own to end, if one does; the same on all ranks. A
   * fit ends by itself.
   */
  public Optional<String> stopAsked() {
    return parts.callbacks().stopAsked();
  }

  /** Evaluates on data, over all ranks; all of them call it together. */
  public Evaluation evaluate(Dataset data) {
    return parts.ownSteps().evaluate(() -> parts.evaluations().on(data));
  }

  /**
   * Evaluates on all data that the loop's settings name, over all ranks; all of them call it
   * together.
   *
   * @throws IllegalStateException if they name none
   */
  public Evaluation evaluate() {
    return parts.ownSteps().evaluate();
  }

  /**
   * Gives all ranks all parameters: their average, where a technique lets them differ, or what each
   * holds a slice of; all of them call it together. {@link #fit} ends with the average, but leaves
   * slices where they are.
   */
  public void averageParameters() {
    parts.steps().sync().average();
  }

  /** Gives all ranks the same running statistics, in place; all of them call it together. */
  public void averageStatistics() {
    parts.statistics().average();
  }

  /** Returns the model with its parameters and buffers. */
  public BoundModel model() {
    return parts.model();
  }

  /**
   * Reads the model with all its parameters, averaged where ranks differ and gathered where each
   * holds slices; training goes on as if nobody had looked. All ranks call it together.
   *
   * @param action must not change the model
   */
  public <T> T read(Function<BoundModel, T> action) {
    return parts.steps().sync().whileAveraged(() -> action.apply(model()));
  }

  /**
   * Reads the model with the moving average in place of its parameters, as {@link #saveEma} writes
   * it; until averaging begins they are the same. All ranks call it together.
   *
   * @param action must not change the model
   * @throws IllegalStateException if no technique keeps one
   */
  public <T> T readEma(Function<BoundModel, T> action) {
    return parts.ema().read(action);
  }

  /** Returns the group of all ranks. */
  public Collective collective() {
    return parts.collective();
  }

  /** Returns the number of updates made. */
  public long updates() {
    return parts.steps().updates();
  }

  /** Returns the number of micro-steps made. */
  public long microSteps() {
    return parts.steps().count();
  }

  /** Returns what this rank has sent, in all attempts at this run. */
  public TrafficCount sent(Traffic traffic) {
    return parts.sentBefore().plus(traffic, parts.collective());
  }

  JobLink link() {
    return link;
  }

  /** Listens to somebody else than this process's launcher; for tests. */
  void link(JobLink other) {
    link = other;
  }

  /** Returns what techniques and decisions have to say in the run's summary. */
  public Map<String, Object> metrics() {
    Map<String, Object> all = new LinkedHashMap<>(parts.steps().metrics());
    all.putAll(parts.decisions().forSummary());
    all.putAll(parts.callbacks().forSummary());
    return all;
  }

  /** Returns what the trainer is made of. */
  TrainerParts parts() {
    return parts;
  }

  /** Tells what became of the last update, where nobody has asked, and frees everything. */
  @Override
  public void close() {
    try {
      parts.steps().settle();
    } finally {
      parts.close();
    }
  }
}
