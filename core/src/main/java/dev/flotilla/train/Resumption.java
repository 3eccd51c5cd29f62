package dev.flotilla.train;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.Position;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.KeyValueStore;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.state.Stateful;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Finds the newest checkpoint that every rank can read in full, and restores it.
 *
 * <p>Rank 0 proposes, newest first; all ranks restore what they need and verify it meanwhile; a
 * checkpoint is used when nobody objects.
 */
final class Resumption {

  private static final Position NONE = new Position(0, 0);

  private final Collective collective;
  private final Consumer<String> notices;
  private final Consumer<Path> distrust;

  Resumption(Collective collective, Consumer<String> notices, Consumer<Path> distrust) {
    this.collective = collective;
    this.notices = notices;
    this.distrust = distrust;
  }

  /**
   * Restores the newest checkpoint that is sound; returns which one, if there is any.
   *
   * @param from a checkpoint, or a folder of checkpoints, or a run's folder
   * @throws CheckpointException if the named checkpoint, or all of a folder, are damaged: what
   *     remembers holds part of them by then, so that nothing can go on from there
   */
  Optional<SavedCheckpoint> restore(Path from, Map<String, String> facts, List<Stateful> parts) {
    boolean isOne = SavedCheckpoint.isAt(from);
    var folder = Restorer.folderOf(from);
    var candidates = isOne ? List.of(from) : proposals(folder);
    for (var candidate : candidates) {
      var objections = objections(candidate, facts, parts);
      if (objections.isEmpty()) {
        return Optional.of(SavedCheckpoint.open(candidate));
      }
      if (isOne) {
        throw new CheckpointException(String.join("; ", objections));
      }
      distrust.accept(candidate);
      objections.forEach(it -> notices.accept(it + "; trying the checkpoint before it"));
    }
    if (!candidates.isEmpty()) {
      throw new CheckpointException(
          "all %d checkpoints in %s are damaged, as said above; move them away to start anew"
              .formatted(candidates.size(), folder));
    }
    return Optional.empty();
  }

  /** Returns the names that rank 0 sees, so that all ranks try the same ones in the same order. */
  private List<Path> proposals(Path folder) {
    List<Path> seen = collective.rank() == 0 ? Restorer.candidates(folder) : List.of();
    List<Path> proposals = new ArrayList<>();
    for (int i = 0; i < broadcast(seen.size()); i++) {
      var position = i < seen.size() ? SavedCheckpoint.positionOf(seen.get(i)) : NONE;
      long updates = broadcast(position.updates());
      long microSteps = broadcast(position.microSteps());
      proposals.add(folder.resolve(new Position(updates, microSteps).folderName()));
    }
    return proposals;
  }

  private long broadcast(long number) {
    try (var _ = TensorScope.open()) {
      var tensor = Tensors.ofLongs(number);
      collective.broadcast(tensor, 0, Traffic.START).await();
      return NativeView.of(tensor).getAtIndex(ValueLayout.JAVA_LONG, 0);
    }
  }

  private List<String> objections(Path candidate, Map<String, String> facts, List<Stateful> parts) {
    var store = collective.keyValueStore().section("resume");
    Optional<String> own = objection(candidate, facts, parts);
    own.ifPresent(it -> store.set(key(collective.rank()), it));
    return allReduce(own.isPresent() ? 1 : 0, Reduction.MAX) == 0 ? List.of() : read(store);
  }

  private Optional<String> objection(
      Path candidate, Map<String, String> facts, List<Stateful> parts) {
    SavedCheckpoint checkpoint;
    try {
      checkpoint = SavedCheckpoint.open(candidate);
    } catch (CheckpointException damage) {
      return Optional.of(String.valueOf(damage.getMessage()));
    }
    var changes = new FactChanges(checkpoint, facts);
    if (changes.isOtherLayout()) {
      throw changes.refusal("it was saved from a model with other parameters");
    }
    try {
      return Restorer.restore(checkpoint, collective.rank(), collective.size(), parts)
          .map(damage -> String.valueOf(damage.getMessage()));
    } catch (CheckpointException unfit) {
      throw changes.refusal(String.valueOf(unfit.getMessage()));
    }
  }

  private List<String> read(KeyValueStore store) {
    var distinct = new TreeSet<String>();
    for (int rank = 0; rank < collective.size(); rank++) {
      store.get(key(rank)).ifPresent(distinct::add);
    }
    return List.copyOf(distinct);
  }

  private static String key(int rank) {
    return Integer.toString(rank);
  }

  private long allReduce(long number, Reduction reduction) {
    try (var _ = TensorScope.open()) {
      var tensor = Tensors.ofLongs(number);
      collective.allReduce(tensor, reduction, Traffic.START).await();
      return NativeView.of(tensor).getAtIndex(ValueLayout.JAVA_LONG, 0);
    }
  }

  /** Says what is not as it was. */
  void noteChanges(SavedCheckpoint checkpoint, Map<String, String> facts) {
    if (checkpoint.ranks() != collective.size()) {
      notices.accept(
          ("saved by %d ranks, restored by %d: half-filled accumulation windows are dealt out among"
                  + " the ranks, running statistics are the average")
              .formatted(checkpoint.ranks(), collective.size()));
    }
    new FactChanges(checkpoint, facts).all().forEach(notices);
  }
}
