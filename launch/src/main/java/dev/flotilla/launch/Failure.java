package dev.flotilla.launch;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/**
 * The first failure of a launch: the one that brought the others about.
 *
 * @param rank rank that failed
 * @param host name of its host
 * @param pid its process id
 * @param exitCode exit code of the launcher because of it
 * @param end how the rank ended, for example {@code SIGKILL (exit code 137)}
 * @param cause why, as far as is known
 * @param time when
 * @param log log file of the rank
 * @param lastLines the last lines of that file
 * @param others one line for every other rank of this host
 */
public record Failure(
    int rank,
    String host,
    long pid,
    int exitCode,
    String end,
    String cause,
    Instant time,
    Path log,
    List<String> lastLines,
    List<String> others) {

  /** Copies the lists. */
  public Failure {
    lastLines = List.copyOf(lastLines);
    others = List.copyOf(others);
  }

  /** Returns the report for people. */
  public String report() {
    var text =
        new StringBuilder("rank %d failed, all ranks of this host are stopped".formatted(rank));
    line(text, "rank", Integer.toString(rank));
    line(text, "host", host);
    line(text, "pid", Long.toString(pid));
    line(text, "ended", end);
    line(text, "cause", cause.replace("\n", "\n           "));
    line(text, "time", time.toString());
    line(text, "log", log.toString());
    if (!lastLines.isEmpty()) {
      text.append("\n  last lines of the log:");
      lastLines.forEach(last -> text.append("\n    | ").append(last));
    }
    others.forEach(other -> text.append("\n  ").append(other));
    return text.toString();
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append("\n  %-8s %s".formatted(name, value));
  }
}
