package dev.flotilla.app;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;

/** Names folders of runs. */
final class RunNames {

  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

  private RunNames() {}

  /** Returns a folder that does not exist yet: {@code runs/TIME_MODEL}. */
  static Path newFolder(String model) {
    var base =
        Path.of("runs", TIME.format(LocalDateTime.now(ZoneId.systemDefault())) + "_" + model);
    var folder = base;
    for (int i = 2; Files.exists(folder); i++) {
      folder = Path.of(base + "-" + i);
    }
    return folder;
  }
}
