package dev.flotilla.app;

import dev.flotilla.config.Change;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.SavedRun;
import dev.flotilla.config.SavedWeights;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.HomePath;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** What commands that use a saved run have in common: which weights, and on which data. */
final class SavedRunOptions {

  @Option(
      names = "--weights",
      paramLabel = "live|ema",
      description = "The trained weights (default), or their moving average.")
  SavedWeights weights = SavedWeights.LIVE;

  @Option(
      names = "--data",
      paramLabel = "NAME|{name: …}",
      description = "Other data than the run's, for example '{name: mnist, path: DIR}'.")
  @Nullable String data;

  /** Reads the arguments of a command that is not called by its name. */
  static <T> T parse(T command, List<String> arguments) {
    new CommandLine(command)
        .registerConverter(Path.class, HomePath::of)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .parseArgs(arguments.toArray(String[]::new));
    return command;
  }

  /**
   * Returns the configuration of a run, with other data if some is given.
   *
   * @param key what names the folder
   * @throws ConfigException with everything that is wrong
   * @throws dev.flotilla.checkpoint.CheckpointException if the folder does not hold a run
   */
  RunConfig config(String key, Path folder) {
    requireFolder(key, folder);
    List<Change> changes = new ArrayList<>();
    if (data != null) {
      changes.add(Change.option("--data", "data", data));
      // What else the run was evaluated on is of no interest then.
      changes.add(Change.option("--data", "eval.also", "null"));
    }
    return SavedRun.config(SavedRun.runOf(folder), changes);
  }

  /** Returns these options as a rank is given them. */
  List<String> arguments() {
    List<String> arguments = new ArrayList<>(List.of("--weights", weights.name()));
    if (data != null) {
      arguments.addAll(List.of("--data", data));
    }
    return arguments;
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
