package dev.flotilla.app;

import dev.flotilla.control.PrivateFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** The file with the key of a job, which only its owner may read. */
final class KeyFile {

  private KeyFile() {}

  static void write(Path file, String text) throws IOException {
    try (var out = PrivateFiles.newFile(file)) {
      out.write(text.getBytes(StandardCharsets.US_ASCII));
    }
  }
}
