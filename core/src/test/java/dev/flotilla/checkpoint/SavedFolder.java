package dev.flotilla.checkpoint;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Saves checkpoints of several ranks in this process, one rank after the other. */
final class SavedFolder {

  static final String RUN = "0123456789abcdef";

  private final Path folder;
  private final Disk disk;
  private final int ranks;
  private final int keep;
  private final int length;
  private final String run;

  SavedFolder(Path folder, Disk disk, int ranks, int keep, int length) {
    this(folder, disk, ranks, keep, length, RUN);
  }

  private SavedFolder(Path folder, Disk disk, int ranks, int keep, int length, String run) {
    this.folder = folder;
    this.disk = disk;
    this.ranks = ranks;
    this.keep = keep;
    this.length = length;
    this.run = run;
  }

  static Position position(int number) {
    return new Position(number, 3L * number);
  }

  /** Returns the same folder as another run saves to it. */
  SavedFolder of(String other) {
    return new SavedFolder(folder, disk, ranks, keep, length, other);
  }

  /** Takes the folder as a new attempt would. */
  void take(String writer) {
    checkpointer(0, writer).takeFolder();
  }

  /** Saves; returns why it failed, if it did. */
  Optional<String> save(int number, String writer) {
    var position = position(number);
    try {
      checkpointer(0, writer).begin(position);
    } catch (IOException e) {
      return Optional.of(CheckpointException.reason(e));
    }
    Optional<String> failure = Optional.empty();
    for (int rank = ranks - 1; rank >= 0; rank--) {
      try (var checkpointer = checkpointer(rank, writer)) {
        var state = TextState.at(position, rank, length);
        checkpointer.save(position, run, Map.of("seed", "42"), List.of(state));
        Optional<String> own = checkpointer.await();
        failure = failure.or(() -> own);
      }
    }
    return failure;
  }

  private Checkpointer checkpointer(int rank, String writer) {
    return new Checkpointer(folder, disk, rank, ranks, keep, writer, SaveFailures.none());
  }
}
