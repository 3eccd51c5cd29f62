package dev.flotilla.train;

import dev.flotilla.control.PrivateFiles;
import dev.flotilla.settings.ConfigException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** The files of a run's folder: where they lie, and what they tell of the run that it holds. */
public final class RunPaths {

  private static final String EVENTS = "events.jsonl";
  static final String SUMMARY = "summary.json";
  private static final String MEASURED = "measured.jsonl";
  private static final String MODEL = "model.safetensors";
  static final String PREPROCESSING = "preprocessing.json";
  private static final String EMA = "model-ema.safetensors";
  private static final String CHECKPOINTS = "checkpoints";

  private RunPaths() {}

  /** Returns the path of the saved model in a run's folder. */
  public static Path modelIn(Path folder) {
    return folder.resolve(MODEL);
  }

  /** Returns the path of the saved moving average in a run's folder. */
  public static Path emaIn(Path folder) {
    return folder.resolve(EMA);
  }

  /** Returns the path of what was learned to make samples of data, in a run's folder. */
  public static Path preprocessingIn(Path folder) {
    return folder.resolve(PREPROCESSING);
  }

  /** Returns the path of the events in a run's folder. */
  public static Path eventsIn(Path folder) {
    return folder.resolve(EVENTS);
  }

  /** Returns the path of what was measured, in a run's folder. */
  static Path measuredIn(Path folder) {
    return folder.resolve(MEASURED);
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

  /** Tells whether a path leads to a folder, or to something in it. */
  public static boolean isInside(Path path, Path folder) {
    return path.toAbsolutePath().normalize().startsWith(folder.toAbsolutePath().normalize());
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
      PrivateFiles.requireOwn(folder);
    } catch (IOException failure) {
      throw unwritable(folder, failure);
    }
  }

  /**
   * Makes a folder for a new run; false if there is something of this name already.
   *
   * @throws ConfigException if it cannot be made
   */
  public static boolean claim(Path folder) {
    var all = Objects.requireNonNull(folder.toAbsolutePath().getParent());
    try {
      if (!Files.isDirectory(all)) {
        Files.createDirectories(all, owner("rwx------"));
      }
    } catch (IOException failure) {
      throw unwritable(all, failure);
    }
    try {
      Files.createDirectory(folder, owner("rwx------"));
      return true;
    } catch (FileAlreadyExistsException taken) {
      return false;
    } catch (IOException failure) {
      throw unwritable(folder, failure);
    }
  }

  static ConfigException unwritable(Path folder, IOException failure) {
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

  static FileAttribute<Set<PosixFilePermission>> owner(String permissions) {
    return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions));
  }

  static String reason(IOException failure) {
    return switch (failure) {
      case AccessDeniedException _ -> "permission denied";
      case NoSuchFileException _ -> "no folder can be made there";
      case FileAlreadyExistsException _ -> "a file is in its place";
      case FileSystemException known when known.getReason() != null -> known.getReason();
      default -> String.valueOf(failure.getMessage());
    };
  }
}
