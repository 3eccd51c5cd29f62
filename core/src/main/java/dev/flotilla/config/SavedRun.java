package dev.flotilla.config;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.data.PreprocessedData;
import dev.flotilla.metric.Metric;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.train.InitialWeights;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.RunPaths;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Reads what a run left in its folder. */
public final class SavedRun {

  private static final TypeReference<Map<String, Object>> VALUES = new TypeReference<>() {};

  private SavedRun() {}

  /** Returns the file that holds the resolved configuration. */
  public static Path summaryFile(Path folder) {
    return RunPaths.summaryIn(folder);
  }

  /**
   * Returns the resolved configuration of a run, whether it has ended or not.
   *
   * @throws CheckpointException if the folder does not hold a run
   */
  @SuppressWarnings("unchecked")
  public static Map<String, Object> configuration(Path folder) {
    var source = RunPaths.isFinished(folder) ? summary(folder) : firstEvent(folder);
    if (source.get("configuration") instanceof Map<?, ?> configuration) {
      return (Map<String, Object>) configuration;
    }
    throw new CheckpointException(folder + " holds no configuration; is it a run's folder?");
  }

  /**
   * Returns the configuration of a run with changes on top. Data that was made by what the run
   * learned is made so again, whatever file it comes from.
   *
   * @throws dev.flotilla.settings.ConfigException with everything that is wrong
   * @throws CheckpointException if the folder does not hold a run
   */
  public static RunConfig config(Path folder, List<Change> changes) {
    var recipe = Recipe.of(folder.toString(), configuration(folder)).overlay(changes);
    var config = RunConfig.read(recipe, Catalogue.installed());
    var file = RunPaths.preprocessingIn(folder);
    boolean learns = config.data() instanceof PreprocessedData data && data.preprocessing() == null;
    if (!learns || !Files.exists(file)) {
      return config;
    }
    var learned =
        Change.option(
            folder.toString(),
            "data.preprocessing",
            JsonText.line(file.toAbsolutePath().toString()));
    return RunConfig.read(recipe.overlay(List.of(learned)), Catalogue.installed());
  }

  /**
   * Returns what summary.json holds.
   *
   * @throws CheckpointException if it cannot be read
   */
  public static Map<String, Object> summary(Path folder) {
    var file = summaryFile(folder);
    try {
      return parse(file, Files.readString(file));
    } catch (IOException missing) {
      throw new CheckpointException(
          folder + " does not hold a finished run: cannot read " + file.getFileName());
    }
  }

  private static Map<String, Object> firstEvent(Path folder) {
    var file = RunPaths.eventsIn(folder);
    try (var lines = Files.lines(file)) {
      return parse(file, lines.findFirst().orElse("{}"));
    } catch (IOException missing) {
      throw new CheckpointException(
          "%s does not hold a run: it has neither %s nor %s"
              .formatted(folder, summaryFile(folder).getFileName(), file.getFileName()));
    }
  }

  private static Map<String, Object> parse(Path file, String json) {
    try {
      return JsonMapper.shared().readValue(json, VALUES);
    } catch (JacksonException malformed) {
      throw new CheckpointException(file + " is not valid JSON: " + malformed.getOriginalMessage());
    }
  }

  static Map<String, Object> throughJson(Map<String, Object> values) {
    return JsonMapper.shared().readValue(JsonMapper.shared().writeValueAsString(values), VALUES);
  }

  /**
   * Returns the folder of the run that a path belongs to: itself, or the one around a checkpoint.
   */
  public static Path runOf(Path runOrCheckpoint) {
    var beside = runOrCheckpoint.toAbsolutePath().normalize().getParent();
    if (!SavedCheckpoint.isAt(runOrCheckpoint) || beside == null) {
      return runOrCheckpoint;
    }
    // A checkpoint that was put aside has the events of its run beside it.
    var around = beside.getParent();
    return Files.exists(RunPaths.eventsIn(beside)) || around == null ? beside : around;
  }

  /**
   * Returns the file with the model of a run that has ended, or of the newest checkpoint.
   *
   * @throws CheckpointException if there is none, or the checkpoint is damaged
   */
  public static Path model(Path runOrCheckpoint, SavedWeights weights) {
    if (SavedCheckpoint.isAt(runOrCheckpoint)) {
      return verified(runOrCheckpoint, weights);
    }
    boolean isLive = weights == SavedWeights.LIVE;
    var whole = fileIn(runOrCheckpoint, weights);
    var checkpoints = Restorer.candidates(Restorer.folderOf(runOrCheckpoint));
    // A run that goes on after its end has the model of that end still.
    boolean isEnd = RunPaths.isFinished(runOrCheckpoint) && Files.exists(whole);
    if (!isLive && !isEnd && (RunPaths.isFinished(runOrCheckpoint) || checkpoints.isEmpty())) {
      throw withoutAverage(runOrCheckpoint);
    }
    return isEnd || checkpoints.isEmpty() ? whole : verified(checkpoints.getFirst(), weights);
  }

  /**
   * Returns the digest that the summary of a run has of the weights in {@link #model}; empty for
   * those of a checkpoint, which has digests of its own.
   */
  public static Optional<String> weightsDigest(Path runOrCheckpoint, SavedWeights weights) {
    boolean isEnd =
        RunPaths.isFinished(runOrCheckpoint)
            && model(runOrCheckpoint, weights).equals(fileIn(runOrCheckpoint, weights));
    return isEnd && summary(runOrCheckpoint).get(digestKey(weights)) instanceof String digest
        ? Optional.of(digest)
        : Optional.empty();
  }

  private static Path fileIn(Path run, SavedWeights weights) {
    return weights == SavedWeights.LIVE ? RunPaths.modelIn(run) : RunPaths.emaIn(run);
  }

  private static String digestKey(SavedWeights weights) {
    return weights == SavedWeights.LIVE ? "weights_sha256" : "ema_sha256";
  }

  private static Path verified(Path checkpoint, SavedWeights weights) {
    var saved = SavedCheckpoint.open(checkpoint);
    saved.verifyAll();
    return weights == SavedWeights.LIVE
        ? saved.model()
        : saved.movingAverage().orElseThrow(() -> withoutAverage(checkpoint));
  }

  private static CheckpointException withoutAverage(Path place) {
    return new CheckpointException(
        ("%s holds no moving average of the weights: its run has no ema, or had not begun it;"
                + " use the live weights")
            .formatted(place));
  }

  /**
   * Loads the saved model and evaluates it on all data that the configuration names for it, each
   * sample on one rank; all ranks call it together, and all get the result.
   *
   * <p>Rank 0 alone reads the model, and the others get its values. Batch and techniques are those
   * of training and do not matter here.
   */
  public static Evaluation evaluate(
      Path runOrCheckpoint, SavedWeights weights, RunConfig config, World world) {
    checkData(config);
    var loop = config.eval().loop(LoopSettings.defaults(), config.data());
    try (var trainer = trainer(runOrCheckpoint, weights, config, world).loop(loop).build()) {
      return trainer.evaluate();
    }
  }

  /**
   * Checks that the data can be read and that the model can take its samples.
   *
   * @throws dev.flotilla.settings.ConfigException with everything that is wrong
   */
  public static void checkData(RunConfig config) {
    config.checkData();
    Preflight.checkSamples(config);
  }

  /**
   * Returns the builder of a trainer that holds the saved model, to evaluate or predict with; all
   * ranks build it together.
   */
  public static TrainerBuilder trainer(
      Path runOrCheckpoint, SavedWeights which, RunConfig config, World world) {
    // The others do not read it, but wait for whoever does.
    var file = world.isLeader() ? model(runOrCheckpoint, which) : runOrCheckpoint;
    var weights = new InitialWeights(file, true);
    var cores = Runtime.getRuntime().availableProcessors();
    return Trainer.on(world)
        .model(config.trained())
        .optimizer(config.optimizer())
        .precision(config.precision())
        .seed(config.seed())
        .threads(config.threadsOn(world, System.getenv(), cores))
        .timeout(config.timeout())
        .joinTimeout(config.joinTimeout())
        .initialWeights(weights)
        .metrics(config.metrics().toArray(Metric[]::new))
        .agreeOn(config.facts())
        .loop(LoopSettings.defaults().inBatchesOf(config.eval().batch()));
  }
}
