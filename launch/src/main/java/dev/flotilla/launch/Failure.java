package dev.flotilla.launch;

import dev.flotilla.control.FailureNotice;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;

/**
 * The first failure of a launch: the one that brought the others about.
 *
 * @param rank rank that failed
 * @param host name of its host
 * @param pid its process id, or 0 where it is not known
 * @param exitCode exit code of the launcher because of it
 * @param end how the rank ended, for example {@code SIGKILL (exit code 137)}
 * @param cause why, as far as is known
 * @param progress where the rank was, for example {@code update 97, micro-step 391}
 * @param time when
 * @param log log file of the rank
 * @param lastLines the last lines of that file
 * @param whereabouts who was where in which collective; empty when there was none
 * @param others one line for every other rank of this host
 */
public record Failure(
    int rank,
    String host,
    long pid,
    int exitCode,
    String end,
    String cause,
    String progress,
    Instant time,
    Path log,
    List<String> lastLines,
    String whereabouts,
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
    line(text, "pid", pid > 0 ? Long.toString(pid) : "unknown");
    line(text, "ended", end);
    line(text, "cause", cause);
    line(text, "at", progress);
    line(text, "time", time.toString());
    line(text, "log", log.toString());
    if (!lastLines.isEmpty()) {
      text.append("\n  last lines of the log:");
      lastLines.forEach(last -> text.append("\n    | ").append(last));
    }
    if (!whereabouts.isEmpty()) {
      line(text, "ranks", whereabouts);
    }
    others.forEach(other -> text.append("\n  ").append(other));
    return text.toString();
  }

  /** Returns what others are told. */
  FailureNotice notice() {
    return new FailureNotice(
        rank, host, pid, exitCode, end, cause, progress, log.toString(), lastLines);
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append("\n  %-8s %s".formatted(name, value.replace("\n", "\n           ")));
  }
}
