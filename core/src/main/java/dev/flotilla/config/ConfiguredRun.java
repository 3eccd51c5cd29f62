package dev.flotilla.config;

import dev.flotilla.checkpoint.SafetensorsWriter;
import dev.flotilla.data.BatchSource;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.StepPlanner;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.RunFolder;
import dev.flotilla.train.RunSummary;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
   * @throws ConfigException if the batch is too small for the ranks, data is missing, or a name
   *     pattern matches no parameter
   */
  public ConfiguredRun(RunConfig config, World world) {
    this.config = config;
    this.world = world;
    config.batchOn(world);
    config.checkData();
    checkPatterns();
  }

  private void checkPatterns() {
    var names = config.model().parameters().stream().map(ParameterSpec::name).toList();
    var problems = new Problems();
    requireMatches("freeze", config.freeze(), names, problems);
    var noDecay = config.noDecay();
    requireMatches("no_decay", noDecay == null ? List.of() : noDecay, names, problems);
    if (names.stream().allMatch(NamePatterns.anyOf(config.freeze()))) {
      problems.add(config.origin().placeOf("freeze"), "freeze", "leaves no parameter to train");
    }
    problems.orThrow();
  }

  private void requireMatches(
      String key, List<String> patterns, List<String> names, Problems problems) {
    for (var pattern : NamePatterns.unmatched(patterns, names)) {
      String message = "'" + pattern + "' matches none of the parameters " + shortened(names);
      problems.add(config.origin().placeOf(key), key, message);
    }
  }

  private static String shortened(List<String> names) {
    return names.size() <= 12 ? names.toString() : names.subList(0, 12) + " …";
  }

  /** Returns the configuration. */
  public RunConfig config() {
    return config;
  }

  /** Resolves the techniques without touching native code. */
  public StepPlanner.Plan plan() {
    return trainer(_ -> {}).plan();
  }

  /** Returns the builder that the recipe describes; programs of their own may change it. */
  public TrainerBuilder trainer(EventSink events) {
    return describe(events).strategy(techniques().toArray(Strategy[]::new));
  }

  /** Returns the builder without techniques. */
  TrainerBuilder describe(EventSink events) {
    var noDecay = config.noDecay();
    return Trainer.on(world)
        .model(config.model())
        .optimizer(config.optimizer())
        .schedule(config.schedule())
        .precision(config.precision())
        .seed(config.seed())
        .threads(threads())
        .timeout(config.timeout())
        .joinTimeout(config.joinTimeout())
        .freeze(NamePatterns.anyOf(config.freeze()))
        .noDecay(noDecay == null ? null : NamePatterns.anyOf(noDecay))
        .microBatch(globalBatch())
        .agreeOn(config.facts())
        .events(events);
  }

  private int threads() {
    int cores = Runtime.getRuntime().availableProcessors();
    return config.threadsOn(world, System.getenv(), cores);
  }

  /** Returns the samples of a micro-step over all ranks. */
  int globalBatch() {
    var batch = config.batch();
    return batch == null
        ? Objects.requireNonNull(config.globalBatch())
        : Math.multiplyExact(batch, world.size());
  }

  /** Returns the techniques that the recipe asks for. */
  List<Strategy> techniques() {
    List<Strategy> techniques = new ArrayList<>(config.strategy());
    if (config.clip() != null) {
      techniques.add(config.clip());
    }
    return techniques;
  }

  /** Returns the training data in the recipe's batches and order. */
  public BatchSource source() {
    var data = config.data().train();
    var batch = config.batch();
    var source =
        batch == null
            ? BatchSource.global(data, Objects.requireNonNull(config.globalBatch()))
            : BatchSource.perRank(data, batch);
    return source.shuffled(config.seed());
  }

  /**
   * Trains, evaluates and, on rank 0, writes the run's folder.
   *
   * @param out the folder, made new
   * @param people told of every event
   * @return what summary.json holds
   */
  public Map<String, Object> run(Path out, EventSink people) {
    if (!world.isLeader()) {
      return train(people);
    }
    try (var folder = RunFolder.create(out)) {
      return train(people.and(folder), folder);
    }
  }

  private Map<String, Object> train(EventSink events) {
    return train(events, null);
  }

  private Map<String, Object> train(EventSink events, @Nullable RunFolder folder) {
    long start = System.nanoTime();
    events.on(new TrainingEvent.Configured(config.resolved()));
    var source = source();
    var builder = trainer(events).loop(loop());
    try (var trainer = builder.build()) {
      var result = trainer.fit(source, epochs());
      trainer.averageStatistics();
      double seconds = (System.nanoTime() - start) / 1e9;
      var summary = RunSummary.of(trainer, result, seconds, config.resolved());
      if (folder != null) {
        var file = RunFolder.modelIn(folder.path());
        SafetensorsWriter.write(file, trainer.model().state(), Map.of());
        folder.writeSummary(summary);
      }
      events.on(new TrainingEvent.Finished(summary));
      return summary;
    }
  }

  private int epochs() {
    var epochs = config.epochs();
    return epochs == null ? 1 : epochs;
  }

  private LoopSettings loop() {
    var maxSteps = config.maxSteps();
    return new LoopSettings(
        config.logEvery(),
        config.data().test(),
        updatesBetween(config.eval().every()),
        config.eval().batch(),
        maxSteps == null ? 0 : maxSteps);
  }

  private static long updatesBetween(Every every) {
    return switch (every) {
      case Every.Epoch _ -> LoopSettings.EACH_EPOCH;
      case Every.End _ -> LoopSettings.AT_END;
      case Every.Updates updates -> updates.count();
    };
  }
}
