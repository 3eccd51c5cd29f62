package dev.flotilla.board.live;

import dev.flotilla.board.run.Run;
import dev.flotilla.board.run.RunException;
import dev.flotilla.board.run.RunFollower;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A run as the board last saw it. Its files are read again only after they have changed, and what
 * was read is kept only while somebody looks at it or it goes on.
 */
final class WatchedRun {

  private final String id;
  private final String name;
  private final Path folder;
  private @Nullable RunFollower follower;
  private @Nullable Run run;
  private Map<String, Object> card;
  private RunState state = RunState.RUNNING;
  private Instant begun = Instant.EPOCH;
  private boolean isFinished;
  private boolean isUnreadable;
  private String stamp = "";
  private long version;

  WatchedRun(String id, String name, Path folder) {
    this.id = id;
    this.name = name;
    this.folder = folder;
    this.card = Map.of("name", name);
  }

  String id() {
    return id;
  }

  /** Tells whether it was never looked at. */
  boolean isUnseen() {
    return stamp.isEmpty();
  }

  /** Counts up whenever there is something new to show. */
  long version() {
    return version;
  }

  RunState state() {
    return state;
  }

  /** When it began; one that was not read yet comes last. */
  Instant begun() {
    return begun;
  }

  /** Returns the run, if it could be read and is kept. */
  Optional<Run> run() {
    return Optional.ofNullable(run);
  }

  /**
   * Looks at the files.
   *
   * @param isKept whether somebody wants more of it than its line in the list
   */
  void look(RunStates states, boolean isKept) {
    var now = stampOf(folder);
    boolean isNew = !now.equals(stamp) || (isKept && run == null && !isUnreadable);
    if (isNew) {
      stamp = now;
      version++;
      read();
    }
    var before = state;
    state = states.of(folder, isFinished, quiet());
    if (before != state) {
      version++;
    }
    if (!isKept && state != RunState.RUNNING) {
      follower = null;
      run = null;
    }
  }

  private void read() {
    try {
      var reader = follower == null ? new RunFollower(folder) : follower;
      follower = reader;
      reader.poll();
      run = reader.run();
      card = RunCard.of(name, run);
      begun = run.begun().orElse(Instant.EPOCH);
      isFinished = run.isFinished();
      isUnreadable = false;
    } catch (RunException unreadable) {
      follower = null;
      run = null;
      isUnreadable = true;
      card = RunCard.unreadable(name, String.valueOf(unreadable.getMessage()));
    }
  }

  /** What the list shows. */
  Map<String, Object> line() {
    Map<String, Object> line = new LinkedHashMap<>();
    line.put("id", id);
    line.put("state", isUnseen() ? "unread" : isUnreadable ? "unreadable" : state.word());
    line.putAll(card);
    return line;
  }

  private Duration quiet() {
    var last = written(folder.resolve("events.jsonl"));
    var measured = written(folder.resolve("measured.jsonl"));
    var latest = last.isAfter(measured) ? last : measured;
    return Duration.between(latest, Instant.now());
  }

  private static Instant written(Path file) {
    try {
      return Files.getLastModifiedTime(file).toInstant();
    } catch (IOException none) {
      return Instant.EPOCH;
    }
  }

  private static String stampOf(Path folder) {
    var stamp = new StringBuilder();
    for (var name : List.of("events.jsonl", "measured.jsonl", "summary.json")) {
      try {
        var file = folder.resolve(name);
        FileTime written = Files.getLastModifiedTime(file);
        stamp.append(Files.size(file)).append('@').append(written).append(' ');
      } catch (IOException none) {
        stamp.append("- ");
      }
    }
    return stamp.toString();
  }
}
