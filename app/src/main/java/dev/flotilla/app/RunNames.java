package dev.flotilla.app;

import dev.flotilla.train.RunPaths;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;

/** Names folders of runs. */
final class RunNames {

  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

  private RunNames() {}

  /**
   * Returns a folder that did not exist: {@code runs/TIME_MODEL}.
   *
   * @param isOurs whether to make it at once, so that a run which starts at the same time takes
   *     another one
   */
  static Path newFolder(Path runs, String model, boolean isOurs) {
    var name = TIME.format(LocalDateTime.now(ZoneId.systemDefault())) + "_" + model;
    var folder = runs.resolve(name);
    for (int i = 2; isOurs ? !RunPaths.claim(folder) : Files.exists(folder); i++) {
      folder = runs.resolve(name + "-" + i);
    }
    return folder;
  }
}
