package dev.flotilla.checkpoint;

import dev.flotilla.state.Stateful;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Finds checkpoints and gives a rank back what it remembered. */
public final class Restorer {

  private Restorer() {}

  /** Returns the committed checkpoints of a folder, newest first; none if there is no folder. */
  public static List<Path> candidates(Path folder) {
    return new CheckpointStore(folder, new RealDisk()).committed();
  }

  /**
   * Returns the folder that holds the checkpoints of a run's folder, or the given one if it holds
   * them itself.
   */
  public static Path folderOf(Path runOrCheckpoints) {
    var inside = runOrCheckpoints.resolve("checkpoints");
    return Files.isDirectory(inside) ? inside : runOrCheckpoints;
  }

  /**
   * Checks every byte that a rank will read.
   *
   * @throws CheckpointException that names file and place of the first difference
   */
  public static void verify(SavedCheckpoint checkpoint, int rank, int ranks) {
    LoadingState.filesOf(checkpoint, rank, ranks).forEach(checkpoint::verify);
  }

  /**
   * Restores all parts of a rank.
   *
   * @throws CheckpointException if the checkpoint holds too little or too much for them
   */
  public static void restore(
      SavedCheckpoint checkpoint, int rank, int ranks, List<Stateful> parts) {
    try (var state = new LoadingState(checkpoint, rank, ranks)) {
      parts.forEach(part -> part.remember(state));
      state.requireAllAsked();
    }
  }
}
