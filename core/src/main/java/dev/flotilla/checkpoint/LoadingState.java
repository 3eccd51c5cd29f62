package dev.flotilla.checkpoint;

import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.state.TensorState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.bytedeco.pytorch.Tensor;

/**
 * Gives a rank back what it remembered.
 *
 * <p>With another number of ranks, sums are dealt out: the part of old rank r goes to new rank r
 * modulo their number, and what only one rank knew is left as it is. Slices are cut anew.
 */
final class LoadingState implements RunState, AutoCloseable {

  private final LoadedPart weights;
  private final Optional<LoadedPart> average;
  private final LoadedPart shared;
  private final RankFiles ranks;
  private final boolean isRegrouped;
  private final Set<String> askedSlices = new HashSet<>();
  private final State sliced;
  private final State summed;

  /**
   * Opens the files that a rank reads.
   *
   * @param damage hears of damage in files beyond these, which is thrown as well
   */
  LoadingState(
      SavedCheckpoint checkpoint, int rank, int size, Consumer<CheckpointException> damage) {
    var folder = checkpoint.folder();
    isRegrouped = checkpoint.ranks() != size;
    weights = new LoadedPart(checkpoint.model(), (_, _) -> {});
    average = checkpoint.movingAverage().map(file -> new LoadedPart(file, (_, _) -> {}));
    shared = new LoadedPart(folder.resolve(SavedCheckpoint.SHARED), (_, _) -> {});
    ranks = new RankFiles(checkpoint, rank, size, damage);
    sliced = new SlicedState(shared, new LoadedSlices(folder, shared, ranks, askedSlices));
    summed = new LoadedSums(folder, ranks, isRegrouped, askedSlices);
  }

  /** Returns the files that a rank reads in any case. */
  static List<String> filesOf(SavedCheckpoint checkpoint, int rank, int size) {
    List<String> files = new ArrayList<>(List.of(SavedCheckpoint.MODEL, SavedCheckpoint.SHARED));
    checkpoint.movingAverage().ifPresent(_ -> files.add(SavedCheckpoint.AVERAGE));
    RankFiles.placesOf(checkpoint, rank, size)
        .forEach(old -> files.add(SavedCheckpoint.rankFile(old)));
    return files;
  }

  @Override
  public boolean isSaving() {
    return false;
  }

  @Override
  public State weights() {
    return weights;
  }

  /** Who asks for it has read elsewhere that there is one. */
  @Override
  public State movingAverage() {
    return average.orElseThrow();
  }

  @Override
  public State shared() {
    return sliced;
  }

  @Override
  public State sliced() {
    return sliced;
  }

  @Override
  public State own() {
    return isRegrouped ? new Kept() : ranks.own().getFirst().part("own");
  }

  /** Rank 0 reads the file of old rank 0, whatever the number of ranks. */
  @Override
  public State leader() {
    return ranks.own().getFirst().part("own");
  }

  @Override
  public List<State> dealt() {
    return ranks.own().stream().map(rank -> rank.part("own")).toList();
  }

  @Override
  public State summed() {
    return summed;
  }

  void requireAllAsked() {
    weights.requireAllAsked(askedSlices);
    average.ifPresent(part -> part.requireAllAsked(askedSlices));
    shared.requireAllAsked(askedSlices);
    if (!isRegrouped) {
      ranks.own().forEach(rank -> rank.requireAllAsked(askedSlices));
    }
    ranks.opened().forEach(rank -> rank.requireSlicesAsked(askedSlices));
  }

  @Override
  public void close() {
    weights.close();
    average.ifPresent(LoadedPart::close);
    shared.close();
    ranks.close();
  }

  /** Leaves everything as it is. */
  private record Kept() implements TensorState {

    @Override
    public void tensor(String name, Tensor live) {}
  }
}
