package dev.flotilla.checkpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The files of the ranks that saved a checkpoint, by rank.
 *
 * <p>Those whose place this rank takes are open from the beginning. The others are opened when
 * something is missing in these, and checked as far as they are read, before they are.
 */
final class RankFiles implements AutoCloseable {

  private final SavedCheckpoint checkpoint;
  private final Consumer<CheckpointException> damage;
  private final List<LoadedPart> own = new ArrayList<>();
  private final Map<Integer, LoadedPart> open = new TreeMap<>();

  /**
   * Opens the files whose place a rank takes.
   *
   * @param damage hears of damage in the others, which is thrown as well
   */
  RankFiles(SavedCheckpoint checkpoint, int rank, int size, Consumer<CheckpointException> damage) {
    this.checkpoint = checkpoint;
    this.damage = damage;
    for (int old : placesOf(checkpoint, rank, size)) {
      var part =
          new LoadedPart(checkpoint.folder().resolve(SavedCheckpoint.rankFile(old)), (_, _) -> {});
      own.add(part);
      open.put(old, part);
    }
  }

  /** Returns the old ranks whose place a rank takes. */
  static List<Integer> placesOf(SavedCheckpoint checkpoint, int rank, int size) {
    List<Integer> places = new ArrayList<>();
    for (int old = rank; old < checkpoint.ranks(); old += size) {
      places.add(old);
    }
    return places;
  }

  /** Returns the files whose place this rank takes. */
  List<LoadedPart> own() {
    return own;
  }

  /** Returns what has been opened so far. */
  List<LoadedPart> opened() {
    return List.copyOf(open.values());
  }

  /** Returns all files, in the order of ranks. */
  List<LoadedPart> all() {
    for (int old = 0; old < checkpoint.ranks(); old++) {
      open.computeIfAbsent(old, this::openOther);
    }
    return opened();
  }

  private LoadedPart openOther(int old) {
    try {
      var verifier = checkpoint.verifier(SavedCheckpoint.rankFile(old));
      verifier.verifyHeader();
      var blocks = new BlocksRead(verifier);
      return new LoadedPart(verifier.file(), (begin, end) -> verify(blocks, begin, end));
    } catch (CheckpointException found) {
      damage.accept(found);
      throw found;
    }
  }

  private void verify(BlocksRead blocks, long begin, long end) {
    try {
      blocks.verify(begin, end);
    } catch (CheckpointException found) {
      damage.accept(found);
      throw found;
    }
  }

  @Override
  public void close() {
    open.values().forEach(LoadedPart::close);
  }
}
