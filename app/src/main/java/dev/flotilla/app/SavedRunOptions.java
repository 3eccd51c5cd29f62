package dev.flotilla.app;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Change;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.SavedRun;
import dev.flotilla.settings.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the configuration of a saved run as options of the command line change it. */
final class SavedRunOptions {

  private SavedRunOptions() {}

  /**
   * Returns the configuration of a run, with other data if some is given.
   *
   * @param key what names the folder
   * @throws ConfigException with everything that is wrong
   * @throws dev.flotilla.checkpoint.CheckpointException if the folder does not hold a run
   */
  static RunConfig config(String key, Path folder, @Nullable String data) {
    requireFolder(key, folder);
    List<Change> changes = new ArrayList<>();
    if (data != null) {
      changes.add(Change.option("--data", "data", data));
    }
    var run = SavedRun.runOf(folder);
    var recipe = Recipe.of(run.toString(), SavedRun.configuration(run));
    return RunConfig.read(recipe.overlay(changes), Catalogue.installed());
  }

  /** Requires that there is a folder. */
  static void requireFolder(String key, Path folder) {
    if (!Files.isDirectory(folder)) {
      throw new ConfigException(
          key,
          "%s %s; name the folder of a run, or one of its checkpoints"
              .formatted(folder, Files.exists(folder) ? "is a file" : "does not exist"));
    }
  }
}
