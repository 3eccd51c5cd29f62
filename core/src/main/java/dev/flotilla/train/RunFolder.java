package dev.flotilla.train;

import dev.flotilla.board.page.Report;
import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * The folder of one run: {@code events.jsonl}, {@code measured.jsonl}, {@code summary.json}, {@code
 * model.safetensors}.
 *
 * <p>Written by rank 0 alone; the folder is private to its owner.
 */
public final class RunFolder implements EventSink, Stateful, AutoCloseable {

  /** How long ranks may outlive a launcher that was killed. */
  private static final Duration LAST_RANKS = Duration.ofSeconds(6);

  /**
   * For how long it counts that the folder was this attempt's own, in nanoseconds, where a file is
   * written that a later attempt would have replaced.
   */
  private static final long BETWEEN_LOOKS = 100_000_000;

  private final Path folder;
  private final FolderLock lock;
  private final RunMark mark;
  private final EventLog events;
  private final MeasuredLog measured;
  private final EventJson json = new EventJson();
  private long ownAsOf = System.nanoTime() - BETWEEN_LOOKS;

  private RunFolder(Path folder, FolderLock lock, RunMark mark) {
    this.folder = folder;
    this.lock = lock;
    this.mark = mark;
    this.events = new EventLog(RunPaths.eventsIn(folder));
    this.measured = new MeasuredLog(RunPaths.measuredIn(folder));
  }

  /**
   * Makes a folder for a new run. Nothing is written into it before the run begins, so that one
   * that cannot be built does not stand in the way of the next.
   *
   * @throws ConfigException if it holds a run already, is in use, or cannot be written
   */
  public static RunFolder create(Path folder) {
    return open(folder, true, "");
  }

  /**
   * Opens the folder of a run that may go on, or begin anew. Nothing is written before that is
   * decided.
   *
   * @throws ConfigException if it is in use or cannot be written
   */
  public static RunFolder reopen(Path folder) {
    return open(folder, false, "");
  }

  /**
   * Opens a folder for a run that goes on from a checkpoint: the one around it, or a new one, which
   * gets the events of the run that saved it.
   *
   * @param launch name of the launch that does so, or empty
   * @throws ConfigException if it holds another run, is in use, or cannot be written
   */
  public static RunFolder continuing(Path folder, Path checkpoint, String launch) {
    return open(folder, !RunPaths.isInside(checkpoint, folder), launch);
  }

  private static RunFolder open(Path folder, boolean isNew, String launch) {
    if (isNew) {
      RunPaths.refuseIfUsed(folder);
    }
    RunPaths.prepare(folder);
    try {
      var lock = FolderLock.ofWriter(folder, "out");
      try {
        if (isNew) {
          RunPaths.refuseIfUsed(folder); // another run may have begun meanwhile
        }
        Optional<String> known = isNew ? Optional.empty() : runIn(folder);
        var mark = new RunMark(known.orElseGet(RunMark::newName), launch, RunMark.newName());
        return new RunFolder(folder, lock, mark);
      } catch (RuntimeException failure) {
        lock.close();
        throw failure;
      }
    } catch (IOException failure) {
      throw RunPaths.unwritable(folder, failure);
    }
  }

  /**
   * Keeps others out of a folder while ranks are started that write to it.
   *
   * @throws ConfigException if it is in use or cannot be written
   */
  public static FolderLock lockForLaunch(Path folder) {
    RunPaths.prepare(folder);
    try {
      return FolderLock.ofLauncher(folder, "out", LAST_RANKS);
    } catch (IOException failure) {
      throw RunPaths.unwritable(folder, failure);
    }
  }

  /** Returns a name for a run or a launch that no other has. */
  public static String newName() {
    return RunMark.newName();
  }

  /** Returns the identity of the run that a folder holds; earlier versions did not state one. */
  public static Optional<String> runIn(Path folder) {
    return markIn(folder).map(RunMark::run);
  }

  /** Tells whether the run in a folder was begun, or went on, in a launch of this name. */
  public static boolean wasTakenUpBy(String launch, Path folder) {
    return markIn(folder).filter(mark -> mark.launch().equals(launch)).isPresent();
  }

  private static Optional<RunMark> markIn(Path folder) {
    try {
      return RunMark.in(folder);
    } catch (IOException failure) {
      throw new ConfigException("out", "cannot read " + folder + ": " + RunPaths.reason(failure));
    }
  }

  /** Returns the identity of the run, which its checkpoints name as well. */
  String run() {
    return mark.run();
  }

  /** Begins a new run, unless it is known already that it goes on. */
  void begin() {
    if (!events.isOpen()) {
      decide(
          () -> {
            events.begin();
            measured.open(null);
          });
    }
  }

  /** Goes on from a checkpoint that was restored, with the events that came before it. */
  void goOnFrom(Path checkpoint) {
    decide(
        () -> {
          var before = folderBefore(checkpoint);
          events.goOnFrom(RunPaths.eventsIn(before));
          // Beside checkpoints that were put aside are events alone.
          var other = RunPaths.measuredIn(before);
          measured.open(Files.exists(other) ? other : RunPaths.measuredIn(folder));
        });
  }

  private interface Decision {
    void take() throws IOException;
  }

  /** A run that is under way has not ended any more. */
  private void decide(Decision decision) {
    try {
      Files.deleteIfExists(RunPaths.summaryIn(folder));
      mark.writeTo(folder);
      decision.take();
    } catch (IOException failure) {
      throw RunPaths.unwritable(folder, failure);
    }
  }

  /**
   * Makes sure that no later attempt writes to the folder: one that was frozen, or cut off, for
   * long must not go on as if nothing had happened. The lock alone does not see to it, as there are
   * file systems without locks, and others that drop them when a host is not heard of.
   *
   * @throws CheckpointException if one does
   */
  public void requireOwn() {
    if (events.isOpen() && !isOwn()) {
      throw new CheckpointException(
          ("another process has taken over %s since this one began; this one belongs to an earlier"
                  + " attempt, and writes nothing more")
              .formatted(folder));
    }
  }

  private boolean isOwn() {
    try {
      return RunMark.in(folder).filter(it -> it.writer().equals(mark.writer())).isPresent();
    } catch (IOException failure) {
      return true; // who cannot read it cannot know, and will say so when it writes
    }
  }

  /** Where the events of a checkpoint's run are: beside it if it was put aside, or around it. */
  private Path folderBefore(Path checkpoint) {
    var around = checkpoint.toAbsolutePath().normalize().getParent();
    for (int i = 0; i < 2 && around != null; i++) {
      if (Files.exists(RunPaths.eventsIn(around))) {
        return around;
      }
      around = around.getParent();
    }
    return folder;
  }

  /** Copies the events to checkpoints that are put aside, as this run will cut its own. */
  void keepEventsIn(Path aside) {
    try {
      if (Files.exists(RunPaths.eventsIn(folder))) {
        Files.createFile(RunPaths.eventsIn(aside), RunPaths.owner("rw-------"));
        Files.write(RunPaths.eventsIn(aside), Files.readAllBytes(RunPaths.eventsIn(folder)));
      }
    } catch (IOException failure) {
      throw RunPaths.unwritable(aside, failure);
    }
  }

  /** Keeps the place in the events. */
  @Override
  public void remember(RunState state) {
    events.remember(state);
  }

  /** Returns the folder's path. */
  public Path path() {
    return folder;
  }

  @Override
  public void on(TrainingEvent event) {
    long now = System.nanoTime();
    if (now - ownAsOf >= BETWEEN_LOOKS) {
      requireOwn();
      ownAsOf = now;
    }
    events.on(event);
    measured.on(event);
  }

  /** Writes what the run achieved; to a new name first, so that a half-written one never shows. */
  public void writeSummary(Map<String, Object> summary) {
    write(RunPaths.SUMMARY, summary);
  }

  /** Writes what other libraries need beside the weights, if anything. */
  public void writeConfiguration(Map<String, Object> configuration) {
    if (!configuration.isEmpty()) {
      write("config.json", configuration);
    }
  }

  /** Writes what was learned of the training data to make samples of it. */
  public void writePreprocessing(Map<String, Object> learned) {
    write(RunPaths.PREPROCESSING, learned);
  }

  private void write(String name, Map<String, Object> values) {
    requireOwn();
    var file = folder.resolve(name);
    var part = folder.resolve(name + ".part");
    try {
      Files.deleteIfExists(part);
      Files.createFile(part, RunPaths.owner("rw-------"));
      Files.writeString(part, json.pretty(values));
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write " + file, failure);
    }
  }

  /** However the run ends, its report says how far it came; that is never worth a failure. */
  private void report() {
    try {
      Report.writeInto(folder);
    } catch (IOException | RuntimeException failure) {
      System.getLogger(RunFolder.class.getName())
          .log(
              System.Logger.Level.WARNING,
              "no report was written into %s: %s; flotilla report %s makes it"
                  .formatted(folder, failure.getMessage(), folder));
    }
  }

  @Override
  public void close() {
    try (lock) {
      events.close();
      measured.close();
      if (events.isOpen() && isOwn()) {
        report();
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot close " + folder, failure);
    }
  }
}
