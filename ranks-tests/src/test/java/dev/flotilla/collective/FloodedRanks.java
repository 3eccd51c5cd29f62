package dev.flotilla.collective;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** Ranks that say their ports and wait before they connect: {@code FOLDER}. */
public final class FloodedRanks {

  private FloodedRanks() {}

  /** Connects once the file {@code go} is there. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    var ports = new AtomicInteger();
    var start =
        new RacedStart(
            folder.resolve("store"),
            true,
            port -> {
              write(folder.resolve("port" + ports.getAndIncrement()), port);
              await(folder.resolve("go"));
            });
    System.out.println(start.run());
  }

  private static void write(Path file, int port) {
    try {
      Path part = Files.writeString(file.resolveSibling(file.getFileName() + ".part"), "" + port);
      Files.move(part, file);
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  private static void await(Path file) {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (!Files.exists(file) && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
  }
}
