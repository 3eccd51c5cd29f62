package dev.flotilla.train;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Takes checkpoints away. */
final class CheckpointFolders {

  private CheckpointFolders() {}

  static void delete(Path checkpoint) {
    try (var files = Files.list(checkpoint)) {
      for (var file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(checkpoint);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
