package dev.flotilla.checkpoint;

import dev.flotilla.state.Stateful;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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
   * Restores all parts of a rank, while another thread checks every byte that is read.
   *
   * <p>Headers, and with them all numbers and texts, are checked before anything is restored. What
   * slices need from files of other ranks is checked before it is read.
   *
   * @return the damage that was found, if any: then nothing that was restored may be used
   * @throws CheckpointException if the checkpoint is sound, but holds too little or too much
   */
  public static Optional<CheckpointException> restore(
      SavedCheckpoint checkpoint, int rank, int ranks, List<Stateful> parts) {
    List<FileVerifier> files;
    try {
      files =
          LoadingState.filesOf(checkpoint, rank, ranks).stream().map(checkpoint::verifier).toList();
      files.forEach(FileVerifier::verifyHeader);
    } catch (CheckpointException damage) {
      return Optional.of(damage);
    }
    var verification = verifying(files);
    List<CheckpointException> elsewhere = new ArrayList<>();
    RuntimeException failure =
        load(() -> new LoadingState(checkpoint, rank, ranks, elsewhere::add), parts);
    var damage = damage(verification).or(() -> elsewhere.stream().findFirst());
    if (damage.isEmpty() && failure != null) {
      throw failure;
    }
    return damage;
  }

  private static FutureTask<@Nullable Void> verifying(List<FileVerifier> files) {
    var task = new FutureTask<@Nullable Void>(() -> files.forEach(FileVerifier::verifyData), null);
    Thread.ofPlatform().name("flotilla-verify").daemon().start(task);
    return task;
  }

  /** Whether a failure is one, or a consequence of damage, is known only after verification. */
  private static @Nullable RuntimeException load(
      Supplier<LoadingState> files, List<Stateful> parts) {
    try (var state = files.get()) {
      parts.forEach(part -> part.remember(state));
      state.requireAllAsked();
      return null;
    } catch (RuntimeException failure) {
      return failure;
    }
  }

  private static Optional<CheckpointException> damage(FutureTask<@Nullable Void> verification) {
    try {
      verification.get();
      return Optional.empty();
    } catch (ExecutionException failure) {
      if (failure.getCause() instanceof CheckpointException damage) {
        return Optional.of(damage);
      }
      throw new IllegalStateException("verification failed", failure.getCause());
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while verifying", interruption);
    }
  }
}
