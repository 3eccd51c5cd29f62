package dev.flotilla.natives;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs programs of the host. */
@FunctionalInterface
interface Commands {

  /**
   * How a program ended.
   *
   * @param exitCode its exit code; 127 if there is no such program, 124 if it took too long
   * @param output what it printed on both streams
   */
  record Result(int exitCode, String output) {

    static final int ABSENT = 127;
    static final int TOO_LONG = 124;

    boolean isOk() {
      return exitCode == 0;
    }

    /** Returns the last line that was printed, which mostly says what was wrong. */
    String lastLine() {
      var lines = output.strip().lines().toList();
      return lines.isEmpty() ? "no output" : lines.getLast();
    }
  }

  /** Runs a program to its end, but not longer than a limit. */
  Result run(Duration limit, List<String> command);

  /** Runs programs as child processes. */
  static Commands ofTheHost() {
    return (limit, command) -> {
      try {
        var output = Files.createTempFile("flotilla-command", ".log");
        try {
          return run(limit, command, output);
        } finally {
          Files.delete(output);
        }
      } catch (IOException absent) {
        return new Result(Result.ABSENT, command.getFirst() + " is not installed");
      }
    };
  }

  private static Result run(Duration limit, List<String> command, Path output) throws IOException {
    var process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
            .start();
    try {
      boolean ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      var text = Files.readString(output, StandardCharsets.ISO_8859_1);
      return ended
          ? new Result(process.exitValue(), text)
          : new Result(Result.TOO_LONG, "no end within " + limit.toMinutes() + " minutes");
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return new Result(Result.TOO_LONG, "interrupted");
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
