package dev.flotilla.launch;

import dev.flotilla.control.PrivateFiles;
import dev.flotilla.text.Secrets;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;

/**
 * The report of a JVM that has crashed. It lists options and properties of the process, secrets
 * among them, for everybody to read.
 */
final class CrashFile {

  private static final long LARGEST = 32L * 1024 * 1024;

  private CrashFile() {}

  /** Hides secrets in what a process has left, and makes it private; there may be nothing. */
  static void hideSecrets(long pid, Secrets secrets) {
    for (String folder : List.of("", System.getProperty("java.io.tmpdir"))) {
      hideSecrets(Path.of(folder, "hs_err_pid%d.log".formatted(pid)).toAbsolutePath(), secrets);
    }
  }

  static void hideSecrets(Path file, Secrets secrets) {
    try {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS) || Files.size(file) > LARGEST) {
        return;
      }
      PrivateFiles.requireOwn(file);
      String text = Files.readString(file, StandardCharsets.ISO_8859_1);
      try (var out = PrivateFiles.newFile(file)) {
        out.write(secrets.hideIn(text).getBytes(StandardCharsets.ISO_8859_1));
      }
    } catch (IOException e) {
      // It is not this launcher's, or gone.
    }
  }
}
