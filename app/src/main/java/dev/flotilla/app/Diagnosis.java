package dev.flotilla.app;

import dev.flotilla.app.doctor.Measured;
import dev.flotilla.control.PrivateFiles;
import dev.flotilla.launch.LaunchException;
import dev.flotilla.launch.LaunchOutput;
import dev.flotilla.launch.LaunchSettings;
import dev.flotilla.launch.Launcher;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/** Starts ranks that measure the links between them, and leaves nothing behind. */
final class Diagnosis {

  private Diagnosis() {}

  /**
   * Measures; on every host but the first there is no result.
   *
   * @param failed hears why ranks could not; the launcher has told the rest
   */
  static Optional<Measured> run(LaunchSettings settings, Consumer<String> failed) {
    try {
      var folder = Files.createTempDirectory("flotilla-doctor");
      try {
        var result = folder.resolve("result.json");
        var command = RankLaunch.command(RankDiagnosis.class.getName(), List.of(result.toString()));
        int code =
            new Launcher(output(), System.getenv())
                .run(settings.withLogDir(folder), command, Unpacking::ensureDone)
                .exitCode();
        if (code != ExitCodes.OK) {
          failed.accept(
              "they ended with exit code %d: %s".formatted(code, ExitCodes.describe(code)));
        }
        return Files.exists(result)
            ? Optional.of(Measured.of(Json.read(result)))
            : Optional.empty();
      } finally {
        PrivateFiles.deleteFolder(folder);
      }
    } catch (LaunchException refused) {
      failed.accept(String.join("; ", refused.problems()));
    } catch (IOException | UncheckedIOException unwritable) {
      failed.accept(String.valueOf(unwritable.getMessage()));
    }
    return Optional.empty();
  }

  /** The launcher's tables are for runs; its messages go to standard error as always. */
  private static LaunchOutput output() {
    var nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
    return new LaunchOutput(nowhere, System.err, OptionalInt.empty());
  }
}
