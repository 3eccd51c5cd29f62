package dev.flotilla.config;

import dev.flotilla.report.tensorboard.TensorBoard;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import dev.flotilla.settings.Setting;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is written for TensorBoard.
 *
 * @param dir where; null for the run's folder
 * @param histograms updates between two histograms of gradients and weights; null for none
 */
public record TensorBoardConfig(
    @Setting(
            doc =
                "Folder in which each run gets one of its own; by default events go to the run's"
                    + " folder.",
            def = "null",
            local = true)
        @Nullable Path dir,
    @Setting(
            doc = "Updates between two histograms of all gradients and weights; none by default.",
            def = "null")
        @Nullable Integer histograms) {

  /** Checks the number. */
  public TensorBoardConfig {
    Check.that(
            histograms == null || histograms >= 1,
            "histograms",
            "must be at least 1, or null for none",
            String.valueOf(histograms))
        .orThrow();
  }

  /** Returns where the events of a run in a folder go. */
  Path in(Path run) {
    return dir == null ? run : dir.resolve(run.toAbsolutePath().normalize().getFileName());
  }

  /**
   * Opens the folder of a run's events.
   *
   * @throws ConfigException if it cannot be written
   */
  TensorBoard open(Path run, Origin origin) {
    try {
      return new TensorBoard(in(run));
    } catch (UncheckedIOException failure) {
      String key = "tensorboard.dir";
      String why =
          switch (Objects.requireNonNull(failure.getCause())) {
            case FileAlreadyExistsException _ -> "something else than a folder is there";
            case AccessDeniedException _ -> "permission denied";
            case java.io.IOException other -> String.valueOf(other.getMessage());
          };
      throw new ConfigException(
          List.of(
              new Problem(
                  origin.placeOf(key).text(),
                  key,
                  "cannot write to %s: %s".formatted(in(run), why),
                  "give a folder that can be made and written, or leave dir out")));
    }
  }
}
