package dev.flotilla.control;

import java.util.List;

/**
 * What a launcher tells everybody about the rank that failed first.
 *
 * @param rank number of the rank
 * @param host name of its host
 * @param pid its process id, or 0 where it is not known
 * @param exitCode exit code of the job because of it
 * @param end how it ended, for example {@code SIGKILL (exit code 137)}
 * @param cause why, as far as is known
 * @param progress where it was
 * @param log its log file on its host
 * @param lastLines the last lines of that file
 */
public record FailureNotice(
    int rank,
    String host,
    long pid,
    int exitCode,
    String end,
    String cause,
    String progress,
    String log,
    List<String> lastLines) {

  private static final int LONGEST_CAUSE = 2000;
  private static final int LONGEST_TEXT = 400;
  private static final int MOST_LINES = 20;

  /** Cuts everything to the room of a frame. */
  public FailureNotice {
    host = cut(host, LONGEST_TEXT);
    end = cut(end, LONGEST_TEXT);
    cause = cut(cause, LONGEST_CAUSE);
    progress = cut(progress, LONGEST_TEXT);
    log = cut(log, LONGEST_TEXT);
    lastLines =
        lastLines.stream()
            .skip(Math.max(0, lastLines.size() - MOST_LINES))
            .map(line -> cut(line, LONGEST_TEXT))
            .toList();
  }

  private static String cut(String text, int longest) {
    return text.length() <= longest ? text : text.substring(0, longest) + "...";
  }

  /** Returns one sentence that names the rank and why it failed. */
  public String sentence() {
    return "rank %d on %s (pid %s) failed %s: %s"
        .formatted(
            rank,
            host,
            pid > 0 ? Long.toString(pid) : "unknown",
            RankPlace.at(progress),
            cause.replace("\n", "; "));
  }

  /** Returns the sentence with how the rank ended and its last lines. */
  public String text() {
    var text = new StringBuilder(sentence());
    text.append("\n  ended    ").append(end);
    text.append("\n  log      ").append(log);
    lastLines.forEach(line -> text.append("\n    | ").append(line));
    return text.toString();
  }
}
