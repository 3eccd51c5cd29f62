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
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
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

  private final Path folder;
  private final EventLog events;
  private final EventJson json = new EventJson();

  private RunFolder(Path folder, boolean isNew) throws IOException {
    this.folder = folder;
    this.events = new EventLog(eventsIn(folder), isNew);
  }

  /**
   * Makes a folder for a new run.
   *
   * @throws ConfigException if it holds a run already or cannot be written
   */
  public static RunFolder create(Path folder) {
    refuseIfUsed(folder);
    return open(folder, true);
  }

  /**
   * Opens the folder of a run that may go on. Nothing is written before it is decided: {@link
   * #startAnew} begins a new run, and taking up a checkpoint's state cuts the events back to its
   * place.
   *
   * @throws ConfigException if it cannot be written
   */
  public static RunFolder reopen(Path folder) {
    return open(folder, false);
  }

  /**
   * Opens a folder for a run that goes on from a checkpoint, with the events of the run that saved
   * it.
   *
   * @throws ConfigException if it holds another run or cannot be written
   */
  public static RunFolder continuing(Path folder, Path checkpoint) {
    var saved = checkpoint.toAbsolutePath().normalize();
    if (saved.startsWith(folder.toAbsolutePath().normalize())) {
      return reopen(folder);
    }
    refuseIfUsed(folder);
    prepare(folder);
    try {
      copyEvents(saved, folder);
    } catch (IOException failure) {
      throw unwritable(folder, failure);
    }
    return reopen(folder);
  }

  private static void copyEvents(Path saved, Path folder) throws IOException {
    for (var around = saved;
        around != null && around.getNameCount() > 0;
        around = around.getParent()) {
      if (Files.exists(around.resolve(EVENTS))) {
        Files.createFile(folder.resolve(EVENTS), owner("rw-------"));
        Files.write(folder.resolve(EVENTS), Files.readAllBytes(around.resolve(EVENTS)));
        return;
      }
    }
  }

  private static RunFolder open(Path folder, boolean isNew) {
    prepare(folder);
    try {
      return new RunFolder(folder, isNew);
    } catch (IOException failure) {
      throw unwritable(folder, failure);
    }
  }

  /** Decides that the events so far are those of a new run. */
  public void startAnew() {
    dropSummary();
    events.startAnew();
  }

  /** Keeps the place in the events; a run that goes on has not ended any more. */
  @Override
  public void remember(RunState state) {
    if (!state.isSaving()) {
      dropSummary();
    }
    events.remember(state);
  }

  private void dropSummary() {
    try {
      Files.deleteIfExists(summaryIn(folder));
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot delete " + summaryIn(folder), failure);
    }
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
            "out", folder + " already holds a run (" + name + "); give another one with --out");
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

  private static java.nio.file.attribute.FileAttribute<
          Set<java.nio.file.attribute.PosixFilePermission>>
      owner(String permissions) {
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
    events.close();
  }
}
