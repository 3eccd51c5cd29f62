package dev.flotilla.train;

import dev.flotilla.report.EventSink;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The folder of one run: {@code events.jsonl}, {@code summary.json}, {@code model.safetensors}.
 *
 * <p>Written by rank 0 alone; the folder is private to its owner.
 */
public final class RunFolder implements EventSink, AutoCloseable {

  private static final String EVENTS = "events.jsonl";
  private static final String SUMMARY = "summary.json";
  private static final String MODEL = "model.safetensors";

  private final Path folder;
  private final BufferedWriter events;
  private final EventJson json = new EventJson();

  private RunFolder(Path folder) throws IOException {
    this.folder = folder;
    var file = folder.resolve(EVENTS);
    Files.createFile(file, owner("rw-------"));
    this.events = Files.newBufferedWriter(file, StandardCharsets.UTF_8);
  }

  /**
   * Makes a folder for a new run.
   *
   * @throws ConfigException if it holds a run already or cannot be written
   */
  public static RunFolder create(Path folder) {
    refuseIfUsed(folder);
    prepare(folder);
    try {
      return new RunFolder(folder);
    } catch (IOException failure) {
      throw unwritable(folder, failure);
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

  /** Returns the path of the summary in a run's folder. */
  public static Path summaryIn(Path folder) {
    return folder.resolve(SUMMARY);
  }

  @Override
  public void on(TrainingEvent event) {
    try {
      events.write(json.line(event));
      events.newLine();
      events.flush();
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot write " + folder.resolve(EVENTS), failure);
    }
  }

  /** Writes what the run achieved; to a new name first, so that a half-written one never shows. */
  public void writeSummary(Map<String, Object> summary) {
    var file = folder.resolve(SUMMARY);
    var part = folder.resolve(SUMMARY + ".part");
    try {
      Files.deleteIfExists(part);
      Files.createFile(part, owner("rw-------"));
      Files.writeString(part, json.pretty(summary));
      Files.move(part, file);
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
    try {
      events.close();
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot close " + folder.resolve(EVENTS), failure);
    }
  }
}
