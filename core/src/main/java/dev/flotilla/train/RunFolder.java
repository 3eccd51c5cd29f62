package dev.flotilla.train;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The folder of one run: {@code events.jsonl}, {@code summary.json}, {@code model.safetensors}.
 *
 * <p>Written by rank 0 alone; the folder is private to its owner.
 */
public final class RunFolder implements EventSink, Stateful, AutoCloseable {

  private static final String EVENTS = "events.jsonl";
  private static final String SUMMARY = "summary.json";
  private static final String MODEL = "model.safetensors";
  private static final String CHECKPOINTS = "checkpoints";

  /** How long ranks may outlive a launcher that was killed. */
  private static final Duration LAST_RANKS = Duration.ofSeconds(6);

  private final Path folder;
  private final FolderLock lock;
  private final RunMark mark;
  private final EventLog events;
  private final EventJson json = new EventJson();

  private RunFolder(Path folder, FolderLock lock, RunMark mark) {
    this.folder = folder;
    this.lock = lock;
    this.mark = mark;
    this.events = new EventLog(eventsIn(folder));
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
    return open(folder, !isInside(checkpoint, folder), launch);
  }

  /** Tells whether a path leads to a folder, or to something in it. */
  public static boolean isInside(Path path, Path folder) {
    return path.toAbsolutePath().normalize().startsWith(folder.toAbsolutePath().normalize());
  }

  private static RunFolder open(Path folder, boolean isNew, String launch) {
    if (isNew) {
      refuseIfUsed(folder);
    }
    prepare(folder);
    try {
      var lock = FolderLock.ofWriter(folder, "out");
      try {
        if (isNew) {
          refuseIfUsed(folder); // another run may have begun meanwhile
        }
        Optional<String> known = isNew ? Optional.empty() : runIn(folder);
        return new RunFolder(folder, lock, new RunMark(known.orElseGet(RunMark::newName), launch));
      } catch (RuntimeException failure) {
        lock.close();
        throw failure;
      }
    } catch (IOException failure) {
      throw unwritable(folder, failure);
    }
  }

  /**
   * Keeps others out of a folder while ranks are started that write to it.
   *
   * @throws ConfigException if it is in use or cannot be written
   */
  public static FolderLock lockForLaunch(Path folder) {
    prepare(folder);
    try {
      return FolderLock.ofLauncher(folder, "out", LAST_RANKS);
    } catch (IOException failure) {
      throw unwritable(folder, failure);
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
      throw new ConfigException("out", "cannot read " + folder + ": " + reason(failure));
    }
  }

  /** Returns the identity of the run, which its checkpoints name as well. */
  String run() {
    return mark.run();
  }

  /** Begins a new run, unless it is known already that it goes on. */
  void begin() {
    if (!events.isOpen()) {
      decide(events::begin);
    }
  }

  /** Goes on from a checkpoint that was restored, with the events that came before it. */
  void goOnFrom(Path checkpoint) {
    decide(() -> events.goOnFrom(eventsBefore(checkpoint)));
  }

  private interface Decision {
    void take() throws IOException;
  }

  /** A run that is under way has not ended any more. */
  private void decide(Decision decision) {
    try {
      Files.deleteIfExists(summaryIn(folder));
      mark.writeTo(folder);
      decision.take();
    } catch (IOException failure) {
      throw unwritable(folder, failure);
    }
  }

  /** Events of the run that saved a checkpoint: beside it if it was put aside, or around it. */
  private Path eventsBefore(Path checkpoint) {
    var around = checkpoint.toAbsolutePath().normalize().getParent();
    for (int i = 0; i < 2 && around != null; i++) {
      if (Files.exists(eventsIn(around))) {
        return eventsIn(around);
      }
      around = around.getParent();
    }
    return eventsIn(folder);
  }

  /** Copies the events to checkpoints that are put aside, as this run will cut its own. */
  void keepEventsIn(Path aside) {
    try {
      if (Files.exists(eventsIn(folder))) {
        Files.createFile(eventsIn(aside), owner("rw-------"));
        Files.write(eventsIn(aside), Files.readAllBytes(eventsIn(folder)));
      }
    } catch (IOException failure) {
      throw unwritable(aside, failure);
    }
  }

  /** Keeps the place in the events. */
  @Override
  public void remember(RunState state) {
    events.remember(state);
  }

  /**
   * Makes the folder itself, private to its owner, without starting a run in it.
   *
   * @throws ConfigException if it cannot be made
   */
  public static void prepare(Path folder) {
    try {
      if (!Files.isDirectory(folder)) {
        Files.createDirectories(folder, owner("rwx------"));
      }
    } catch (IOException failure) {
      throw unwritable(folder, failure);
    }
  }

  private static ConfigException unwritable(Path folder, IOException failure) {
    return new ConfigException("out", "cannot write to " + folder + ": " + reason(failure));
  }

  /**
   * Checks that a folder does not hold a run.
   *
   * @throws ConfigException if it does, or is not a folder
   */
  public static void refuseIfUsed(Path folder) {
    if (Files.exists(folder, LinkOption.NOFOLLOW_LINKS) && !Files.isDirectory(folder)) {
      throw new ConfigException("out", folder + " is not a folder; give another one with --out");
    }
    for (var name : List.of(EVENTS, SUMMARY, MODEL)) {
      if (Files.exists(folder.resolve(name))) {
        throw new ConfigException(
            "out",
            "%s already holds a run (%s); go on with --resume auto, or give another folder with --out"
                .formatted(folder, name));
      }
    }
  }

  /** Returns the folder's path. */
  public Path path() {
    return folder;
  }

  /** Returns the path of the saved model in a run's folder. */
  public static Path modelIn(Path folder) {
    return folder.resolve(MODEL);
  }

  /** Returns the path of the events in a run's folder. */
  public static Path eventsIn(Path folder) {
    return folder.resolve(EVENTS);
  }

  /** Returns the path of the summary in a run's folder. */
  public static Path summaryIn(Path folder) {
    return folder.resolve(SUMMARY);
  }

  /** Returns the path of the checkpoints in a run's folder. */
  public static Path checkpointsIn(Path folder) {
    return folder.resolve(CHECKPOINTS);
  }

  /** Tells whether a run in this folder has ended well. */
  public static boolean isFinished(Path folder) {
    return Files.exists(summaryIn(folder));
  }

  @Override
  public void on(TrainingEvent event) {
    events.on(event);
  }

  /** Writes what the run achieved; to a new name first, so that a half-written one never shows. */
  public void writeSummary(Map<String, Object> summary) {
    write(SUMMARY, summary);
  }

  /** Writes what other libraries need beside the weights, if anything. */
  public void writeConfiguration(Map<String, Object> configuration) {
    if (!configuration.isEmpty()) {
      write("config.json", configuration);
    }
  }

  private void write(String name, Map<String, Object> values) {
    var file = folder.resolve(name);
    var part = folder.resolve(name + ".part");
    try {
      Files.deleteIfExists(part);
      Files.createFile(part, owner("rw-------"));
      Files.writeString(part, json.pretty(values));
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write " + file, failure);
    }
  }

  static FileAttribute<Set<PosixFilePermission>> owner(String permissions) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
  }

  private static String reason(IOException failure) {
    return switch (failure) {
      case AccessDeniedException _ -> "permission denied";
      case NoSuchFileException _ -> "no folder can be made there";
      case FileSystemException known when known.getReason() != null -> known.getReason();
      default -> String.valueOf(failure.getMessage());
    };
  }

  @Override
  public void close() {
    try (lock) {
      events.close();
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot close " + folder, failure);
    }
  }
}
