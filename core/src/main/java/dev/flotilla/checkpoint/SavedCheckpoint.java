package dev.flotilla.checkpoint;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** A committed checkpoint whose manifest has been checked. */
public final class SavedCheckpoint {

  static final String MODEL = "model.safetensors";
  static final String AVERAGE = "model-ema.safetensors";
  static final String SHARED = "shared.safetensors";

  private final Path folder;
  private final Manifest manifest;

  private SavedCheckpoint(Path folder, Manifest manifest) {
    this.folder = folder;
    this.manifest = manifest;
  }

  /**
   * Opens a checkpoint's folder and checks its manifest.
   *
   * @throws CheckpointException if it is not a checkpoint or its manifest is damaged
   */
  public static SavedCheckpoint open(Path folder) {
    if (!Files.isDirectory(folder)) {
      throw new CheckpointException(folder + " is not a folder");
    }
    return new SavedCheckpoint(folder, Manifest.read(folder));
  }

  /** Tells whether a folder looks like a checkpoint, be it sound or not. */
  public static boolean isAt(Path folder) {
    return Files.exists(folder.resolve(Manifest.FILE));
  }

  /** Returns the position that a checkpoint's name states. */
  public static Position positionOf(Path folder) {
    return Position.ofFolder(String.valueOf(folder.getFileName()))
        .orElseThrow(() -> new CheckpointException(folder + " is not called like a checkpoint"));
  }

  /** Returns its folder. */
  public Path folder() {
    return folder;
  }

  /** Returns how far the run had come. */
  public Position position() {
    return manifest.position();
  }

  /** Returns the number of ranks that saved it. */
  public int ranks() {
    return manifest.ranks();
  }

  /** Returns the identity of the run that saved it; earlier versions did not state one. */
  public Optional<String> run() {
    return Optional.ofNullable(manifest.run());
  }

  /** Returns the run that a checkpoint names, if it can be read and does. */
  public static Optional<String> runOf(Path folder) {
    try {
      return open(folder).run();
    } catch (CheckpointException damaged) {
      return Optional.empty();
    }
  }

  /** Returns what the run was, by key. */
  public Map<String, String> facts() {
    return manifest.facts();
  }

  /** Returns the file that holds the model under its published names. */
  public Path model() {
    return folder.resolve(MODEL);
  }

  /** Returns the file that holds a moving average of the model, if there is one. */
  public Optional<Path> movingAverage() {
    return manifest.note(AVERAGE).map(note -> folder.resolve(note.name()));
  }

  static String rankFile(int rank) {
    return "rank-%05d.safetensors".formatted(rank);
  }

  /**
   * Reads all files and compares every byte with the manifest.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  public void verifyAll() {
    manifest.files().forEach(note -> verify(folder.resolve(note.name()), note));
  }

  static void verify(Path file, FileNote note) {
    new FileVerifier(file, note).verify();
  }

  /** Returns what compares a file with the manifest. */
  FileVerifier verifier(String name) {
    var note =
        manifest
            .note(name)
            .orElseThrow(
                () -> new CheckpointException(folder + " holds no " + name + " in its manifest"));
    return new FileVerifier(folder.resolve(name), note);
  }
}
