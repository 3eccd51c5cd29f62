package dev.flotilla.app;

import dev.flotilla.control.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * {@code flotilla warm-up}: plans and trains a little, so that a JVM that writes a start-up cache
 * ({@code -XX:AOTCacheOutput}) has seen what commands load, and which methods a step calls: those
 * are compiled at once then, and not while they train.
 */
@Command(
    name = "warm-up",
    hidden = true,
    description = "Does what most commands begin with, for a start-up cache.")
final class WarmUpCommand implements Callable<Integer> {

  /** After 200 calls a method is compiled; small batches come to that sooner. */
  private static final String[] SHORT_RUN = {"--set=max_steps=1000", "--set=batch=8"};

  @Override
  public Integer call() throws IOException {
    var folder = Files.createTempDirectory("flotilla-warm-up");
    try {
      int planned = Main.run("plan", SHORT_RUN[0], SHORT_RUN[1]);
      int trained = Main.run("train", SHORT_RUN[0], SHORT_RUN[1], "--out=" + folder.resolve("run"));
      return Math.max(planned, trained);
    } finally {
      PrivateFiles.deleteFolder(folder);
    }
  }
}
