package dev.flotilla.train;

import dev.flotilla.collective.Agreement;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Collectives;
import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.engine.BoundModel;
import dev.flotilla.engine.Evaluation;
import dev.flotilla.engine.Evaluator;
import dev.flotilla.engine.FullUpdate;
import dev.flotilla.engine.RunningStatistics;
import dev.flotilla.engine.SegmentChain;
import dev.flotilla.engine.StartUp;
import dev.flotilla.engine.StepContext;
import dev.flotilla.engine.StepOutcome;
import dev.flotilla.engine.StepPlan;
import dev.flotilla.engine.StepRunner;
import dev.flotilla.engine.UpdateCount;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.optim.LrScaling;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.SharedFacts;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.world.World;
import java.util.TreeMap;
import org.bytedeco.pytorch.global.torch;

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

  private static final long UNKNOWN = -1;

  private final TrainerBuilder settings;
  private final Resources resources = new Resources();
  private final Collective collective;
  private final BoundModel model;
  private final SegmentChain chain;
  private final RunningStatistics statistics;
  private final Evaluator evaluator;
  private final StepRunner runner;
  private long totalUpdates = UNKNOWN;
  private long epochs;

  Trainer(TrainerBuilder settings, StepPlanner.Plan plan) {
    this.settings = settings;
    try {
      plan.warnings().forEach(issue -> note(issue.toString()));
      NativeLibraries.load();
      torch.set_num_threads(settings.threads);
      collective = settings.wrapper.apply(resources.own(join()));
      model =
          resources.own(
              new BoundModel(
                  settings.requiredModel(), settings.precision, settings.seed, settings.frozen));
      agree();
      StartUp.broadcast(collective, model);
      chain = resources.own(new SegmentChain(model, settings.seed, collective.rank()));
      statistics = new RunningStatistics(model.buffers(), collective);
      evaluator = new Evaluator(model, chain, collective);
      runner = resources.own(newRunner(plan.step()));
    } catch (RuntimeException | Error failure) {
      resources.closeAfter(failure);
      throw failure;
    }
  }

  /** Starts to describe a trainer for a place in a world; {@code World.join()} for this process. */
  public static TrainerBuilder on(World world) {
    return new TrainerBuilder(world);
  }

  private Collective join() {
    return Collectives.join(settings.world, settings.collectiveSettings);
  }

  /** Ranks that disagree in sizes would abort in their first collective. */
  private void agree() {
    var facts = new TreeMap<>(settings.facts);
    facts.put("parameters.layout", model.arena().layout().hash());
    facts.putAll(SharedFacts.of("optimizer", settings.requiredOptimizer()));
    facts.putAll(SharedFacts.of("schedule", settings.schedule));
    for (var technique : settings.strategies) {
      facts.putAll(SharedFacts.of("strategy." + technique.key(), technique));
    }
    Agreement.check(collective, facts, settings.collectiveSettings.timeout());
  }

  private StepRunner newRunner(StepPlan plan) {
    var context =
        new StepContext(
            model,
            collective,
            () -> new FullUpdate(model.arena(), settings.requiredOptimizer(), settings.noDecay),
            settings.microBatch,
            this::note);
    return new StepRunner(plan, context, chain, this::learningRate);
  }

  private double learningRate(long update) {
    if (totalUpdates == UNKNOWN && settings.schedule.needsTotal()) {
      throw new IllegalStateException(
          settings.schedule + " needs the number of updates: call plannedUpdates(n) before step");
    }
    return settings.requiredOptimizer().lr()
        * batchFactor(update)
        * settings.schedule.factor(update, totalUpdates);
  }

  private double batchFactor(long update) {
    var optimizer = settings.requiredOptimizer();
    var baseBatch = optimizer.baseBatch();
    if (optimizer.scaleLr() == LrScaling.NONE || baseBatch == null) {
      return 1;
    }
    int microBatch =
        settings.microBatch.orElseThrow(
            () -> new IllegalStateException("scale_lr needs the batch: call microBatch(n)"));
    double batch = (double) microBatch * runner.microStepsAfter(update);
    return optimizer.scaleLr().factor(batch / baseBatch);
  }

  /** Says how many updates an own loop will make, for schedules that depend on it. */
  public void plannedUpdates(long updates) {
    totalUpdates = updates;
  }

  /** Runs one micro-batch; all ranks call it equally often, also with an empty batch. */
  public StepOutcome step(Batch batch) {
    return step(batch, false);
  }

  /** Runs one micro-batch and says whether it is the last of an epoch. */
  public StepOutcome step(Batch batch, boolean lastOfEpoch) {
    var outcome = runner.step(batch, lastOfEpoch);
    statistics.saw(batch.samples());
    return outcome;
  }

  /** Returns the parts of a step for a loop of your own. */
  public OwnLoop ownLoop() {
    return new OwnLoop(runner, statistics);
  }

  /** Trains for a number of epochs, or until the loop's limit of updates. */
  public FitResult fit(BatchSource source, int epochs) {
    return new FitLoop(this, settings, source, epochs).run();
  }

  /** Evaluates on data, over all ranks; all of them call it together. */
  public Evaluation evaluate(Dataset data) {
    return evaluate(data, settings.loop.evaluationBatch());
  }

  Evaluation evaluate(Dataset data, int batch) {
    return statistics.whileAveraged(() -> evaluator.evaluate(data, batch));
  }

  /** Gives all ranks the same running statistics, in place; all of them call it together. */
  public void averageStatistics() {
    statistics.average();
  }

  /** Returns the model with its parameters and buffers. */
  public BoundModel model() {
    return model;
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
    return runner.microSteps();
  }

  /** Returns the number of the next epoch; a second fit goes on where the first one ended. */
  long nextEpoch() {
    return epochs++;
  }

  UpdateCount updateCount(long microStepsPerEpoch) {
    return runner.updateCount(microStepsPerEpoch);
  }

  SegmentChain chain() {
    return chain;
  }

  private void note(String text) {
    settings.sink.on(new TrainingEvent.Noted(text));
  }

  @Override
  public void close() {
    resources.close();
  }
}
