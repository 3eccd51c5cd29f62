package dev.flotilla.checkpoint;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.bytedeco.pytorch.Tensor;

/** Collects copies of everything a run remembers, sorted into the files of a checkpoint. */
final class SavingState implements RunState {

  private final Part weights;
  private final Part average;
  private final Part shared;
  private final Part own;

  /**
   * Creates an empty state.
   *
   * @param isLeader whether this rank writes what all ranks share; other ranks copy none of it
   */
  SavingState(SnapshotMemory memory, boolean isLeader) {
    weights = new Part(memory, isLeader);
    average = new Part(memory, isLeader);
    shared = new Part(memory, isLeader);
    own = new Part(memory, true);
  }

  @Override
  public boolean isSaving() {
    return true;
  }

  @Override
  public State weights() {
    return weights;
  }

  @Override
  public State movingAverage() {
    return average;
  }

  @Override
  public State shared() {
    return new SlicedState(shared, slicesIn(shared, SliceName.EQUAL));
  }

  @Override
  public State sliced() {
    return new SlicedState(shared, slicesIn(own, SliceName.EQUAL));
  }

  @Override
  public State slicedElsewhere() {
    return new SlicedState(shared, (_, _, _) -> {});
  }

  @Override
  public State own() {
    return own.part("own");
  }

  @Override
  public List<State> dealt() {
    return List.of(own());
  }

  @Override
  public State leader() {
    return own();
  }

  @Override
  public State summed() {
    return new SlicedState(own.part("sum"), slicesIn(own, SliceName.SUM));
  }

  /** Returns the files of this rank by name. */
  Map<String, NotedFile.Content> files(int rank) {
    Map<String, NotedFile.Content> files = new TreeMap<>();
    files.put(SavedCheckpoint.rankFile(rank), own.content());
    if (rank == 0) {
      files.put(SavedCheckpoint.MODEL, weights.content());
      files.put(SavedCheckpoint.SHARED, shared.content());
      if (average.bytes() > 0) {
        files.put(SavedCheckpoint.AVERAGE, average.content());
      }
    }
    return files;
  }

  long bytes() {
    return weights.bytes() + average.bytes() + shared.bytes() + own.bytes();
  }

  /** Of an empty slice there is nothing to save, and its offset may be another one's too. */
  private static SlicedState.Slices slicesIn(Part file, String prefix) {
    return (name, offset, live) -> {
      if (live.numel() > 0) {
        file.tensor(new SliceName(prefix + name, offset).toString(), live);
      }
    };
  }

  /** What goes into one file. */
  private static final class Part implements State {

    private final SnapshotMemory memory;
    private final boolean isKept;
    private final List<LiveTensor> tensors = new ArrayList<>();
    private final Set<String> names = new HashSet<>();
    private final Map<String, String> texts = new TreeMap<>();

    Part(SnapshotMemory memory, boolean isKept) {
      this.memory = memory;
      this.isKept = isKept;
    }

    NotedFile.Content content() {
      return SafetensorsWriter.content(tensors, texts);
    }

    long bytes() {
      return tensors.stream().mapToLong(tensor -> tensor.bytes()).sum();
    }

    @Override
    public void tensor(String name, Tensor live) {
      if (!names.add(name)) {
        throw new IllegalStateException("two parts of the run remember a tensor as " + name);
      }
      if (isKept) {
        try (var _ = TensorScope.open()) {
          tensors.add(memory.copy(LiveTensor.of(name, live)));
        }
      }
    }

    @Override
    public long number(String name, long value) {
      text(name, Long.toString(value));
      return value;
    }

    @Override
    public double real(String name, double value) {
      // Java prints as many digits as it takes to read the same number again.
      text(name, Double.toString(value));
      return value;
    }

    @Override
    public String text(String name, String value) {
      if (texts.put(name, value) != null) {
        throw new IllegalStateException("two parts of the run remember something as " + name);
      }
      return value;
    }
  }
}
