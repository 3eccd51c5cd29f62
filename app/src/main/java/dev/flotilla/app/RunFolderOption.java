package dev.flotilla.app;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Where a run's files go, for commands that train and for those that write a training down. */
final class RunFolderOption {

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Folder of the run, which all hosts must see; by default runs/TIME_MODEL, for a cluster"
              + " runs/NAME.")
  @Nullable Path folder;
}
