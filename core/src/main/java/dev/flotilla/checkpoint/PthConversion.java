package dev.flotilla.checkpoint;

import dev.flotilla.world.ProgramPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Has a child JVM convert a {@code .pth} file, and deletes what it made when closed. */
final class PthConversion implements AutoCloseable {

  static final long MOST_MINUTES = 10;
  private static final int MOST_OUTPUT = 10_000;

  private final Path folder;

  private PthConversion(Path folder) {
    this.folder = folder;
  }

  /**
   * Converts a file into a temporary one.
   *
   * @throws CheckpointException if it is malformed or mentions what is not allowed
   */
  static PthConversion of(Path file) {
    try {
      var conversion = new PthConversion(Files.createTempDirectory("flotilla-pth"));
      try {
        conversion.run(file.toAbsolutePath());
        return conversion;
      } catch (IOException | RuntimeException e) {
        conversion.close();
        throw e;
      }
    } catch (IOException e) {
      throw CheckpointException.of("cannot convert", file, e);
    }
  }

  Path result() {
    return folder.resolve("model.safetensors");
  }

  private Path output() {
    return folder.resolve("output.txt");
  }

  private void run(Path file) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-Xmx1g", "-Djdk.serialFilter=!*"));
    command.addAll(ProgramPath.to(PthConverter.class));
    command.addAll(List.of(file.toString(), result().toString()));
    var process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output().toFile())
            .start();
    try {
      if (!process.waitFor(MOST_MINUTES, TimeUnit.MINUTES)) {
        throw new CheckpointException(
            "%s: converting it took more than %d minutes".formatted(file, MOST_MINUTES));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CheckpointException(file + ": converting it was interrupted");
    } finally {
      process.destroyForcibly();
    }
    if (process.exitValue() != 0) {
      String said = Files.readString(output()).strip();
      throw new CheckpointException(
          said.isEmpty()
              ? "%s: the converter ended with %d".formatted(file, process.exitValue())
              : said.substring(0, Math.min(said.length(), MOST_OUTPUT)));
    }
  }

  @Override
  public void close() {
    try {
      Files.deleteIfExists(result());
      Files.deleteIfExists(output());
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      throw CheckpointException.of("cannot delete", folder, e);
    }
  }
}
