package dev.flotilla.checkpoint;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.state.TensorState;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/**
 * Gives a rank back what it remembered.
 *
 * <p>With another number of ranks, sums are dealt out: the part of old rank r goes to new rank r
 * modulo their number, and what only one rank knew is left as it is.
 */
final class LoadingState implements RunState, AutoCloseable {

  private final LoadedPart weights;
  private final LoadedPart shared;
  private final List<LoadedPart> ranks = new ArrayList<>();
  private final boolean isRegrouped;

  LoadingState(SavedCheckpoint checkpoint, int rank, int size) {
    isRegrouped = checkpoint.ranks() != size;
    weights = new LoadedPart(checkpoint.model());
    shared = new LoadedPart(checkpoint.folder().resolve(SavedCheckpoint.SHARED));
    for (int old = rank; old < checkpoint.ranks(); old += size) {
      ranks.add(new LoadedPart(checkpoint.folder().resolve(SavedCheckpoint.rankFile(old))));
    }
  }

  /** Returns the files that a rank reads. */
  static List<String> filesOf(SavedCheckpoint checkpoint, int rank, int size) {
    List<String> files = new ArrayList<>(List.of(SavedCheckpoint.MODEL, SavedCheckpoint.SHARED));
    for (int old = rank; old < checkpoint.ranks(); old += size) {
      files.add(SavedCheckpoint.rankFile(old));
    }
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

  @Override
  public State shared() {
    return new Sliced(shared);
  }

  @Override
  public State sliced() {
    return new Sliced(ranks.getFirst());
  }

  @Override
  public State own() {
    return isRegrouped ? new Kept() : ranks.getFirst().part("own");
  }

  /** Rank 0 reads the file of old rank 0, whatever the number of ranks. */
  @Override
  public State leader() {
    return ranks.getFirst().part("own");
  }

  @Override
  public List<State> dealt() {
    return ranks.stream().map(rank -> rank.part("own")).toList();
  }

  @Override
  public State summed() {
    return isRegrouped ? new Dealt().part("sum") : ranks.getFirst().part("sum");
  }

  void requireAllAsked() {
    weights.requireAllAsked();
    shared.requireAllAsked();
    if (!isRegrouped) {
      ranks.forEach(LoadedPart::requireAllAsked);
    }
  }

  @Override
  public void close() {
    weights.close();
    shared.close();
    ranks.forEach(LoadedPart::close);
  }

  /** Leaves everything as it is. */
  private record Kept() implements TensorState {

    @Override
    public void tensor(String name, Tensor live) {}
  }

  private final class Sliced implements State {

    private final LoadedPart slices;

    Sliced(LoadedPart slices) {
      this.slices = slices;
    }

    @Override
    public void tensor(String name, Tensor live) {
      shared.tensor(name, live);
    }

    @Override
    public void slice(String name, long offset, Tensor live) {
      if (live.numel() > 0) {
        slices.tensor(new SliceName(SliceName.EQUAL + name, offset).toString(), live);
      }
    }

    @Override
    public boolean has(String name) {
      return shared.has(name);
    }

    @Override
    public long number(String name, long value) {
      return shared.number(name, value);
    }

    @Override
    public double real(String name, double value) {
      return shared.real(name, value);
    }

    @Override
    public String text(String name, String value) {
      return shared.text(name, value);
    }
  }

  /** Adds up what some ranks have saved. */
  private final class Dealt implements State {

    @Override
    public void tensor(String name, Tensor live) {
      live.zero_();
      for (var rank : ranks) {
        try (var _ = TensorScope.open()) {
          var part = live.new_zeros(live.shape());
          rank.tensor(name, part);
          live.add_(part);
        }
      }
    }

    @Override
    public boolean has(String name) {
      return ranks.stream().allMatch(rank -> rank.has(name));
    }

    @Override
    public long number(String name, long value) {
      return ranks.stream().mapToLong(rank -> rank.number(name, 0)).sum();
    }

    @Override
    public double real(String name, double value) {
      return ranks.stream().mapToDouble(rank -> rank.real(name, 0)).sum();
    }

    @Override
    public String text(String name, String value) {
      throw new IllegalStateException(name + " is a text, which cannot be summed over ranks");
    }
  }
}
