package dev.flotilla.checkpoint;

import dev.flotilla.state.Stateful;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One rank's part in saving checkpoints: copies the state, then writes it on a thread of its own.
 *
 * <p>At most one save is under way. Rank 0 commits it when all ranks have written their parts.
 *
 * <p>Costs the time of copying the state; the memory of one copy, from the first save on; and per
 * rank the writing of its own state, rank 0 that of the shared one as well.
 */
public final class Checkpointer implements AutoCloseable {

  private static final Duration LONGEST_WAIT = Duration.ofMinutes(10);
  private static final Duration POLL = Duration.ofMillis(10);

  /** They are not as cheap to read as the folder. */
  private static final int POLLS_PER_LOOK = 25;

  private final CheckpointStore store;
  private final Disk disk;
  private final int rank;
  private final int ranks;
  private final int keep;
  private final String writer;
  private final SaveFailures failures;
  private final SnapshotMemory memory = new SnapshotMemory();
  private final List<Path> bad = new ArrayList<>();
  private @Nullable CompletableFuture<Void> underWay;
  private volatile @Nullable Position best;

  /**
   * Creates the writer of a rank.
   *
   * @param folder where checkpoints are, the same for all ranks
   * @param keep how many sound ones are kept
   * @param writer the same text on all ranks, and another one in each attempt
   * @param failures what ranks read when the folder cannot be written
   */
  public Checkpointer(
      Path folder, int rank, int ranks, int keep, String writer, SaveFailures failures) {
    this(folder, new RealDisk(), rank, ranks, keep, writer, failures);
  }

  Checkpointer(
      Path folder, Disk disk, int rank, int ranks, int keep, String writer, SaveFailures failures) {
    this.store = new CheckpointStore(folder, disk);
    this.disk = disk;
    this.rank = rank;
    this.ranks = ranks;
    this.keep = keep;
    this.writer = writer;
    this.failures = failures;
  }

  /**
   * Makes the folder, if there is none; called by rank 0.
   *
   * @throws CheckpointException if it cannot be made
   */
  public void makeFolder() {
    try {
      store.make();
    } catch (IOException e) {
      throw CheckpointException.of("cannot write checkpoints to", store.folder(), e);
    }
  }

  /**
   * Takes possession of the folder; called by rank 0 before any other rank looks at it.
   *
   * @throws CheckpointException if it cannot be written
   */
  public void takeFolder() {
    try {
      store.take(writer);
    } catch (IOException e) {
      throw CheckpointException.of("cannot write checkpoints to", store.folder(), e);
    }
  }

  /** Tells whether this rank sees the folder that rank 0 took. */
  public boolean seesFolder() {
    return store.isHeldBy(writer);
  }

  /**
   * Says that a checkpoint turned out to be damaged, so that it is not counted among those kept.
   */
  public void distrust(Path checkpoint) {
    bad.add(checkpoint);
  }

  /** Says which checkpoint is kept besides the newest ones. */
  public void keepBest(Position position) {
    best = position;
  }

  /**
   * Moves checkpoints out of the way of a run that goes on before them; called by rank 0.
   *
   * @param which positions that are moved
   * @param companions puts what else belongs to them beside them, before they are moved
   * @return where they are now, if there were any
   * @throws CheckpointException if they cannot be moved
   */
  public Optional<Path> putAside(Predicate<Position> which, Consumer<Path> companions) {
    try {
      return store.putAside(which, companions);
    } catch (IOException e) {
      throw CheckpointException.of("cannot put checkpoints aside in", store.folder(), e);
    }
  }

  /** Makes the place of the next save; called by rank 0 before any rank saves. */
  public void begin(Position position) throws IOException {
    store.begin(position, writer);
  }

  /**
   * Copies the state and starts to write it.
   *
   * <p>The save before must have been {@link #await awaited}, and rank 0 must have {@link #begin
   * begun}.
   *
   * @param run whose checkpoint it is
   * @param facts what the run is, for the manifest
   */
  public void save(Position position, String run, Map<String, String> facts, List<Stateful> parts) {
    if (underWay != null) {
      throw new IllegalStateException("a save is under way: await it first");
    }
    var copy = new CheckpointEvent("copy", position);
    memory.rewind();
    var state = new SavingState(memory, rank == 0);
    parts.forEach(part -> part.remember(state));
    copy.end(state.bytes(), true);
    var done = new CompletableFuture<Void>();
    underWay = done;
    Thread.ofPlatform()
        .name("flotilla-checkpoint")
        .daemon()
        .start(() -> write(position, run, facts, state, done));
  }

  /**
   * Waits for the save under way.
   *
   * @return why it failed, if it did
   */
  public Optional<String> await() {
    var save = underWay;
    if (save == null) {
      return Optional.empty();
    }
    underWay = null;
    try {
      save.join();
      return Optional.empty();
    } catch (CompletionException e) {
      return Optional.of(reason(e.getCause() == null ? e : e.getCause()));
    }
  }

  private static String reason(Throwable failure) {
    return failure instanceof IOException io
        ? CheckpointException.reason(io)
        : String.valueOf(failure.getMessage());
  }

  private void write(
      Position position,
      String run,
      Map<String, String> facts,
      SavingState state,
      CompletableFuture<Void> done) {
    var event = new CheckpointEvent("write", position);
    try {
      writeParts(position, run, facts, state);
      event.end(state.bytes(), true);
      done.complete(null);
    } catch (IOException | RuntimeException | Error failure) {
      event.end(state.bytes(), false);
      done.completeExceptionally(failure);
    }
  }

  private void writeParts(
      Position position, String run, Map<String, String> facts, SavingState state)
      throws IOException {
    var staging = store.staging(position, writer);
    var notes = new PartNotes(disk, staging);
    try {
      requireRoom(state.bytes());
      notes.written(rank, writeFiles(staging, state));
      if (rank == 0) {
        var files = awaitAll(notes, position);
        notes.remove(ranks);
        store.commit(writer, Manifest.of(position, ranks, run, facts, files));
      }
    } catch (IOException | RuntimeException failure) {
      tellOrAbandon(position, notes, failure);
      throw failure;
    }
    if (rank == 0) {
      store.retain(writer, keep, run, bad, best);
    }
  }

  private void requireRoom(long bytes) throws IOException {
    long room = disk.room(store.folder());
    if (room < bytes) {
      throw new IOException(
          "the state of rank %d needs %,d bytes, but only %,d are free"
              .formatted(rank, bytes, room));
    }
  }

  private List<FileNote> writeFiles(Path staging, SavingState state) throws IOException {
    List<FileNote> notes = new ArrayList<>();
    for (var file : state.files(rank).entrySet()) {
      var note = NotedFile.write(disk, staging, file.getKey(), file.getValue());
      // Only what was read back may replace an older checkpoint.
      SavedCheckpoint.verify(staging.resolve(note.name()), note);
      notes.add(note);
    }
    return notes;
  }

  private List<FileNote> awaitAll(PartNotes notes, Position position) throws IOException {
    List<FileNote> files = new ArrayList<>();
    long deadline = System.nanoTime() + LONGEST_WAIT.toNanos();
    int polls = 0;
    for (int from = 0; from < ranks; from++) {
      var written = notes.of(from);
      while (written.isEmpty()) {
        if (System.nanoTime() > deadline) {
          throw new IOException(
              "rank %d had not written its part after %d s"
                  .formatted(from, LONGEST_WAIT.toSeconds()));
        }
        if (polls++ % POLLS_PER_LOOK == 0) {
          requireNoFailure(position);
        }
        pause();
        written = notes.of(from);
      }
      files.addAll(written.get());
    }
    return files;
  }

  private void requireNoFailure(Position position) throws IOException {
    Optional<String> failure = failures.of(position.folderName());
    if (failure.isPresent()) {
      throw new IOException(failure.get());
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(POLL);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for other ranks", e);
    }
  }

  /** Rank 0 cleans up; the others tell it, so that it does not wait for them. */
  private void tellOrAbandon(Position position, PartNotes notes, Exception failure) {
    try {
      if (rank == 0) {
        store.abandon(position, writer);
      } else {
        notes.failed(rank, reason(failure));
      }
    } catch (IOException alsoFailed) {
      failure.addSuppressed(alsoFailed);
      postFailure(position, failure);
    }
  }

  private void postFailure(Position position, Exception failure) {
    if (rank > 0) {
      try {
        failures.report(
            position.folderName(), "rank %d failed: %s".formatted(rank, reason(failure)));
      } catch (RuntimeException lost) {
        failure.addSuppressed(lost);
      }
    }
  }

  /** Waits for the save under way and frees the copy. */
  @Override
  public void close() {
    var _ = await();
    memory.close();
  }
}
