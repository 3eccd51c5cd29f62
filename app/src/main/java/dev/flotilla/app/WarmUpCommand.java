package dev.flotilla.app;

import dev.flotilla.control.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * {@code flotilla warm-up}: plans and trains one update, so that a JVM that writes a start-up cache
 * ({@code -XX:AOTCacheOutput}) has seen what commands load.
 */
@Command(
    name = "warm-up",
    hidden = true,
    description = "Does what most commands begin with, for a start-up cache.")
final class WarmUpCommand implements Callable<Integer> {

  private static final String ONE_UPDATE = "--set=max_steps=1";

  @Override
  public Integer call() throws IOException {
    var folder = Files.createTempDirectory("flotilla-warm-up");
    try {
      int planned = Main.run("plan", ONE_UPDATE);
      int trained = Main.run("train", ONE_UPDATE, "--out=" + folder.resolve("run"));
      return Math.max(planned, trained);
    } finally {
      PrivateFiles.deleteFolder(folder);
    }
  }
}
