package dev.flotilla.booster;

import dev.flotilla.arena.Totals;
import dev.flotilla.collective.FirstOfHost;
import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.model.LossTerms;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.train.OwnLoop;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A model with its optimizer on one rank, for a loop of the user's own; made by a {@link Booster}.
 *
 * <p>Micro-steps add up until {@link #step}, which is the boundary and divides by the count of all
 * of them: the loss is not divided by hand. All ranks call {@link #step} equally often. Not
 * thread-safe.
 */
public final class Boosted implements AutoCloseable {

  private static final Duration LONGEST_PREPARATION = Duration.ofMinutes(30);

  private final Plugin plugin;
  private final World world;
  private final Trainer trainer;
  private final OwnLoop loop;
  private final List<PreparedData> prepared = new ArrayList<>();
  private boolean isClosed;

  /** Takes possession of a trainer. */
  Boosted(Plugin plugin, World world, Trainer trainer) {
    this.plugin = plugin;
    this.world = world;
    this.trainer = trainer;
    this.loop = trainer.ownLoop();
  }

  /**
   * Returns this rank's part of training data. Each sample comes once per epoch, on one rank;
   * {@link Dataset#batches} says how many are in a batch, {@link BatchSource#shuffled} and {@link
   * BatchSource#dropLast} the rest.
   */
  public PreparedData prepare(BatchSource source) {
    requireOpen("prepare");
    var data = new PreparedData(source, world, trainer.model().device().isCuda());
    prepared.add(data);
    return data;
  }

  /**
   * Runs an action on every rank, on one rank of each host before its others, and returns when all
   * ranks are done; for what must be fetched or unpacked once. All ranks call it together. Nobody
   * waits longer than 30 minutes.
   *
   * @throws X what the action has thrown on this rank
   * @throws dev.flotilla.collective.CollectiveException if it has failed on another rank, with what
   *     that one has thrown, or a rank was not done in time
   */
  public <T, X extends Exception> T priority(FirstOfHost.Action<T, X> action) throws X {
    return priority(LONGEST_PREPARATION, action);
  }

  /**
   * Runs an action on every rank, on one rank of each host before its others.
   *
   * @param timeout the longest wait for the first one, and then for all
   * @throws X what the action has thrown on this rank
   */
  public <T, X extends Exception> T priority(Duration timeout, FirstOfHost.Action<T, X> action)
      throws X {
    requireOpen("priority");
    return FirstOfHost.run(trainer.collective(), world, timeout, action);
  }

  /** Says how many updates the loop will make, for schedules that depend on it. */
  public void plannedUpdates(long updates) {
    requireOpen("plannedUpdates");
    trainer.plannedUpdates(updates);
  }

  /** Runs a micro-batch forward and backward; returns this rank's totals since the last step. */
  public Totals forwardBackward(Batch batch) {
    requireOpen("forwardBackward");
    return loop.forwardBackward(batch);
  }

  /**
   * Adds the gradient of a loss of your own, given as sum and count; returns this rank's totals
   * since the last step.
   *
   * @throws IllegalStateException if the plugin works on the forward pass, which it does not see
   *     here
   */
  public Totals backward(LossTerms loss) {
    requireOpen("backward");
    return loop.backward(loss);
  }

  /**
   * Marks micro-steps whose gradients must not be sent, until it is closed; a step inside is
   * refused.
   *
   * <p>It is a promise that is checked, not a switch: without it, plugins that keep it send nothing
   * before a step either.
   *
   * @throws IllegalStateException if the plugin cannot keep it
   */
  public OwnLoop.NoSync noSync() {
    requireOpen("noSync");
    plugin
        .refusalOfNoSync()
        .ifPresent(
            reason -> {
              throw new IllegalStateException("noSync cannot be kept: " + reason);
            });
    return loop.noSync();
  }

  /**
   * Exchanges, divides and applies the gradients since the last step, and clears them.
   *
   * @throws IllegalStateException inside {@link #noSync}
   */
  public StepOutcome step() {
    requireBoundary();
    return loop.update();
  }

  /**
   * Runs the last micro-batch before a boundary, and makes the step. Gradients are exchanged while
   * backward goes on, which they cannot be where {@link #step()} tells of the boundary afterwards.
   *
   * @throws IllegalStateException inside {@link #noSync}
   */
  public StepOutcome step(Batch last) {
    requireBoundary();
    return loop.update(last);
  }

  /** Throws the gradients since the last step away. */
  public void clear() {
    requireOpen("clear");
    loop.clear();
  }

  /** Says that an epoch ends here, for events and callbacks; all ranks call it together. */
  public void endEpoch() {
    requireOpen("endEpoch");
    loop.endEpoch();
  }

  /** Returns why a callback asks the loop to end, if one does; the same on all ranks. */
  public Optional<String> stopAsked() {
    return trainer.stopAsked();
  }

  /** Evaluates on data, over all ranks; all of them call it together. */
  public Evaluation evaluate(Dataset data) {
    requireOpen("evaluate");
    return trainer.evaluate(data);
  }

  /**
   * Saves a checkpoint of this moment, also between two steps, and waits until it is complete; all
   * ranks call it together. Its folder is what the builder's {@code checkpoints} says.
   */
  public void save() {
    requireOpen("save");
    trainer.save();
    trainer.awaitSave();
  }

  /**
   * Goes on where a checkpoint was saved, with any plugin and on any number of ranks; all ranks
   * call it together, before the first micro-step. {@link #microSteps} then says which batch is
   * next.
   *
   * @param from a checkpoint, or a folder of them, of which the newest is taken
   * @return the checkpoint, or nothing if there is none
   * @throws dev.flotilla.checkpoint.CheckpointException if it does not fit
   */
  public Optional<Path> load(Path from) {
    requireOpen("load");
    return trainer.resume(from);
  }

  /** Writes the weights, whole, as one safetensors file; all ranks call it together. */
  public void saveModel(Path file) {
    requireOpen("saveModel");
    trainer.saveModel(file);
  }

  /**
   * Reads the model with all its parameters, gathered where each rank holds slices; all ranks call
   * it together.
   *
   * @param action must not change the model
   */
  public <T> T read(Function<BoundModel, T> action) {
    requireOpen("read");
    return trainer.read(action);
  }

  /** Returns the number of updates made. */
  public long updates() {
    return trainer.updates();
  }

  /** Returns the number of micro-steps made. */
  public long microSteps() {
    return trainer.microSteps();
  }

  /** Returns the trainer underneath: its group of ranks, what was sent, its metrics. */
  public Trainer trainer() {
    requireOpen("trainer");
    return trainer;
  }

  private void requireBoundary() {
    requireOpen("step");
    if (loop.isInsideNoSync()) {
      throw new IllegalStateException(
          "step was called inside noSync, which marks micro-steps that must not communicate; close"
              + " it first");
    }
  }

  private void requireOpen(String call) {
    if (isClosed) {
      throw new IllegalStateException(
          call + " was called after close, which has freed the model; call it before");
    }
  }

  /** Frees the model and leaves the other ranks; a second call does nothing. */
  @Override
  public void close() {
    if (!isClosed) {
      isClosed = true;
      prepared.forEach(PreparedData::close);
      trainer.close();
    }
  }
}
