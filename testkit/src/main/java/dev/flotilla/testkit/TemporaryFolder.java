package dev.flotilla.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;

/** A private folder that is deleted with all it holds. */
record TemporaryFolder(Path path) implements AutoCloseable {

  static TemporaryFolder create(String purpose) {
    try {
      return new TemporaryFolder(Files.createTempDirectory("flotilla-" + purpose));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot make a temporary folder", e);
    }
  }

  @Override
  public void close() {
    try (var files = Files.walk(path)) {
      files.sorted(Comparator.reverseOrder()).forEach(TemporaryFolder::delete);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot empty " + path, e);
    }
  }

  private static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete " + file, e);
    }
  }
}
