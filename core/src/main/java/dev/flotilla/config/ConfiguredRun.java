package dev.flotilla.config;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.PreprocessedData;
import dev.flotilla.metric.Metric;
import dev.flotilla.optim.GroupSettings;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.NamePatterns;
import dev.flotilla.step.Phase;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Every;
import dev.flotilla.train.LearningRateRange;
import dev.flotilla.train.LearningRates;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.RunFolder;
import dev.flotilla.train.RunPaths;
import dev.flotilla.train.RunSummary;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A recipe on a rank: builds the trainer that the recipe describes, and runs it.
 *
 * <p>Making one checks everything that can be checked without native code.
 */
public final class ConfiguredRun {

  private final RunConfig config;
  private final World world;

  /**
   * Checks a configuration against a world.
   *
   * @throws ConfigException if the batch is too small for the ranks, data is missing or does not
   *     fit the model, or a name pattern matches no parameter
   */
  public ConfiguredRun(RunConfig config, World world) {
    this.config = config;
    this.world = world;
    Preflight.check(config, world);
  }

  /**
   * Checks that the weights to start from are there and fit the model, without native code; whoever
   * is or starts rank 0 calls it, as the others get its values.
   *
   * @throws ConfigException if there is no such file
   * @throws CheckpointException if it is malformed or does not fit
   */
  public void checkWeights() {
    var weights = config.initFrom().weights();
    if (weights == null) {
      return;
    }
    try {
      weights.check(config.model());
    } catch (ConfigException wrong) {
      var problems = new Problems();
      String key = "init_from.path";
      wrong.problems().forEach(it -> problems.add(config.origin().placeOf(key), key, it.message()));
      problems.orThrow();
    }
  }

  /** Returns the configuration. */
  public RunConfig config() {
    return config;
  }

  /**
   * Resolves the techniques without touching native code.
   *
   * @throws ConfigException if the run would make no update
   */
  public StepPlanner.Plan plan() {
    var plan = trainer(_ -> {}).plan();
    length(plan).requireUpdates();
    return plan;
  }

  /** Returns the builder that the recipe describes; programs of their own may change it. */
  public TrainerBuilder trainer(EventSink events) {
    var builder =
        RunObservers.planned(config, describe(events))
            .strategy(config.techniques().toArray(Strategy[]::new));
    return builder.warnOf(length(builder.plan()).warnings());
  }

  /** Returns what of memory a run of the recipe takes for its state. */
  public RunMemory memory() {
    boolean isByHost =
        config.techniques().stream()
            .anyMatch(it -> it.properties().contains(Property.LETS_RANKS_DIFFER));
    return new RunMemory(config, isByHost ? world.localSize() : world.size());
  }

  /** Returns how long a run by a plan of this recipe is. */
  public RunLength length(StepPlanner.Plan plan) {
    return new RunLength(config, globalBatch(), plan.step());
  }

  /** Returns the builder without techniques. */
  TrainerBuilder describe(EventSink events) {
    var noDecay = config.noDecay();
    return comparing(Trainer.on(world))
        .model(config.trained())
        .optimizer(config.optimizer())
        .schedule(config.schedule())
        .schedulePer(config.schedulePer())
        .precision(config.precision())
        .device(config.device())
        .seed(config.seed())
        .threads(threads())
        .timeout(config.timeout())
        .joinTimeout(config.joinTimeout())
        .freeze(NamePatterns.anyOf(config.freeze()))
        .freezeStatistics(NamePatterns.anyOf(config.freezeStatistics()))
        .noDecay(noDecay == null ? null : NamePatterns.anyOf(noDecay))
        .groups(config.groups().toArray(GroupSettings[]::new))
        .layerDecay(config.layerDecay())
        .microBatch(globalBatch())
        .metrics(config.metrics().toArray(Metric[]::new))
        .stopWhen(config.stopWhen())
        .nonFinite(config.nonFinite())
        .initialWeights(config.initFrom().weights())
        .agreeOn(config.facts())
        .events(events);
  }

  private TrainerBuilder comparing(TrainerBuilder trainer) {
    return config.compareEvery() == 0
        ? trainer.compareNever()
        : trainer.compareEvery(config.compareEvery());
  }

  private int threads() {
    int cores = Runtime.getRuntime().availableProcessors();
    return config.threadsOn(world, System.getenv(), cores);
  }

  /** Returns the samples of a micro-step over all ranks. */
  int globalBatch() {
    return config.batchSize().over(world.size());
  }

  /** Returns the training data in the recipe's batches and order. */
  public BatchSource source() {
    return config.batchSize().of(config.data().train()).shuffled(config.seed());
  }

  /** Looks for a learning rate with the recipe's model, data and techniques; writes nothing. */
  public LearningRates findLearningRate(LearningRateRange range, EventSink people) {
    try (var trainer = trainer(people).build()) {
      return trainer.findLearningRate(source(), range);
    }
  }

  /**
   * Trains a new run, evaluates and, on rank 0, writes the run's folder.
   *
   * @param out the folder, made new
   * @param people told of every event
   * @return what summary.json holds
   */
  public Map<String, Object> run(Path out, EventSink people) {
    return run(out, new Resume.No(), people);
  }

  /**
   * Trains, evaluates and, on rank 0, writes the run's folder.
   *
   * @param out the folder; made new unless the run goes on in it
   * @param resume whether and from where the run goes on
   * @param people told of every event
   * @return what summary.json holds
   */
  public Map<String, Object> run(Path out, Resume resume, EventSink people) {
    var location = location(out, resume);
    if (location.isFinishedBy(config)) {
      people.on(
          new TrainingEvent.Noted("the run in %s has ended; nothing is left to do".formatted(out)));
      return SavedRun.summary(out);
    }
    try (var observers = RunObservers.open(config, world, people)) {
      if (!world.isLeader()) {
        return train(location, people, observers, null);
      }
      try (var folder = location.open()) {
        observers.openTensorBoard(out);
        return train(location, people, observers, folder);
      }
    }
  }

  /**
   * Checks that a run may be trained in a folder, without touching it.
   *
   * @throws ConfigException if the folder, or that of its checkpoints, holds another run
   * @throws CheckpointException if there is nothing to go on from where it was named
   */
  public void requireUsable(Path out, Resume resume) {
    location(out, resume).requireUsable();
  }

  /**
   * Checks that ranks started here would find the ports free that the recipe names.
   *
   * @throws ConfigException if one is taken
   */
  public void requirePorts(int ranksOnHost) {
    var prometheus = config.prometheus();
    if (prometheus != null) {
      prometheus.requireFree(ranksOnHost, config.origin());
    }
  }

  private RunLocation location(Path out, Resume resume) {
    return new RunLocation(out, resume, checkpoints(out).folder());
  }

  private Map<String, Object> train(
      RunLocation location, EventSink people, RunObservers observers, @Nullable RunFolder folder) {
    long start = System.nanoTime();
    var events = (folder == null ? people : people.and(folder)).and(observers);
    events.on(new TrainingEvent.Configured(config.shown()));
    if (folder != null) {
      config.data().notes().forEach(note -> events.on(new TrainingEvent.Noted(note)));
    }
    if (folder != null && config.data() instanceof PreprocessedData data) {
      folder.writePreprocessing(data.learned());
    }
    var source = source();
    var builder =
        trainer(events).loop(loop()).checkpoints(checkpoints(location.out())).runFolder(folder);
    observers.watch(builder);
    if (folder != null) {
      events.on(planned(builder.plan()));
    }
    try (var trainer = builder.build()) {
      location.resume(trainer, people);
      var result = trainer.fit(source, epochs());
      double seconds = (System.nanoTime() - start) / 1e9;
      var summary = RunSummary.of(trainer, result, seconds, config.shown());
      summary.putAll(SavedSamples.of(config.data()).forSummary());
      if (folder != null) {
        folder.requireOwn();
      }
      if (config.ema() != null) {
        trainer.saveEma(RunPaths.emaIn(location.out()));
      }
      trainer.saveModel(RunPaths.modelIn(location.out()));
      if (folder != null) {
        folder.writeConfiguration(config.model().configuration());
      }
      events.on(new TrainingEvent.Finished(summary));
      // Written last: what says that the run has ended.
      if (folder != null) {
        folder.writeSummary(summary);
      }
      return summary;
    }
  }

  private TrainingEvent.Planned planned(StepPlanner.Plan plan) {
    Map<String, String> pipeline = new LinkedHashMap<>();
    for (var phase : Phase.values()) {
      pipeline.put(phase.name(), plan.step().describe(phase));
    }
    return new TrainingEvent.Planned(pipeline, memory().stateBytes());
  }

  private CheckpointSettings checkpoints(Path out) {
    var folder = RunPaths.checkpointsIn(out);
    var stated = config.checkpoint();
    return stated == null ? CheckpointSettings.in(folder).ifPossible() : stated.in(folder);
  }

  private int epochs() {
    var epochs = config.epochs();
    return epochs == null ? 1 : epochs;
  }

  private LoopSettings loop() {
    var maxSteps = config.maxSteps();
    var logged = LoopSettings.defaults().logEach(Every.updates(config.logEvery()));
    var loop = config.eval().loop(logged, config.data());
    return maxSteps == null ? loop : loop.endAfterUpdates(maxSteps);
  }
}
