package dev.flotilla.config;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.SafetensorsFile;
import dev.flotilla.engine.BoundModel;
import dev.flotilla.engine.Evaluation;
import dev.flotilla.train.RunFolder;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Reads what a finished run left in its folder. */
public final class SavedRun {

  private SavedRun() {}

  /** Returns the file that holds the resolved configuration. */
  public static Path summaryFile(Path folder) {
    return RunFolder.summaryIn(folder);
  }

  /**
   * Returns the resolved configuration of a run.
   *
   * @throws CheckpointException if the folder does not hold a finished run
   */
  @SuppressWarnings("unchecked")
  public static Map<String, Object> configuration(Path folder) {
    var file = summaryFile(folder);
    try {
      var summary =
          JsonMapper.shared()
              .readValue(Files.readString(file), new TypeReference<Map<String, Object>>() {});
      if (summary.get("configuration") instanceof Map<?, ?> configuration) {
        return (Map<String, Object>) configuration;
      }
      throw new CheckpointException(file + " holds no configuration; is it a run's summary?");
    } catch (IOException missing) {
      throw new CheckpointException(
          folder + " does not hold a finished run: cannot read " + file.getFileName());
    } catch (JacksonException malformed) {
      throw new CheckpointException(file + " is not valid JSON: " + malformed.getOriginalMessage());
    }
  }

  /** Loads the saved model and evaluates it on the configuration's test data. */
  public static Evaluation evaluate(Path folder, RunConfig config) {
    var run = new ConfiguredRun(config, World.solo());
    try (var trainer = run.trainer(_ -> {}).build()) {
      load(RunFolder.modelIn(folder), trainer.model());
      return trainer.evaluate(config.data().test());
    }
  }

  private static void load(Path file, BoundModel model) {
    try (var saved = SafetensorsFile.open(file)) {
      var state = model.state();
      var missing = new TreeSet<>(state.keySet());
      saved.tensors().forEach(tensor -> missing.remove(tensor.name()));
      var unexpected = new TreeSet<String>();
      saved.tensors().stream()
          .filter(tensor -> !state.containsKey(tensor.name()))
          .forEach(tensor -> unexpected.add(tensor.name()));
      if (!missing.isEmpty() || !unexpected.isEmpty()) {
        throw new CheckpointException(
            file + " does not fit the model: missing " + missing + ", unexpected " + unexpected);
      }
      state.forEach(saved::copyInto);
    }
  }
}
