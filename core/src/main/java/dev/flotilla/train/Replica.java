package dev.flotilla.train;

import dev.flotilla.checkpoint.SafetensorsWriter;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.checkpoint.WeightSource;
import dev.flotilla.checkpoint.WeightsDigest;
import dev.flotilla.collective.Collective;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.pass.Evaluator;
import dev.flotilla.pass.RunningStatistics;
import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import dev.flotilla.state.Stateful;
import dev.flotilla.step.OwnReplica;
import dev.flotilla.step.ReplicaCheck;
import dev.flotilla.step.Sync;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * This rank's copy of the model, which may differ from the others' for a while.
 *
 * <p>Where ranks differ, the average is evaluated and published, and in a checkpoint each rank's
 * own parameters come on top; so neither changes the training, and another number of ranks goes on
 * from the average.
 *
 * @param model the parameters and buffers
 * @param statistics running statistics of batches, which always differ
 * @param sync what lets parameters differ
 * @param evaluator runs the model on test data
 * @param collective the group of all ranks
 */
record Replica(
    BoundModel model,
    RunningStatistics statistics,
    Sync sync,
    Evaluator evaluator,
    Collective collective)
    implements Stateful {

  /** Evaluates the average of all ranks; nothing if a rank gives up. */
  Optional<Evaluation> evaluate(Dataset data, int batch, BooleanSupplier givesUp) {
    return sync.whileEvaluated(
        () -> statistics.whileAveraged(() -> evaluator.evaluate(data, batch, givesUp)));
  }

  /** Runs an action with the average of all ranks, all parameters and statistics, in place. */
  <T> T whilePublished(Supplier<T> action) {
    return sync.whileAveraged(() -> statistics.whileAveraged(action));
  }

  /** Writes the average of all ranks, by rank 0; the others wait for it. */
  void write(Path file) {
    try {
      Path _ = whileStreamed(weights -> writtenByRank0(file, weights));
    } finally {
      Preparation.patient(collective).barrier();
    }
  }

  private Path writtenByRank0(Path file, WeightSource weights) {
    try {
      if (collective.rank() == 0) {
        SafetensorsWriter.write(file, weights, Map.of());
      }
    } finally {
      // Also where the file system fails: the others would wait for what this rank sends.
      SafetensorsWriter.visit(weights);
    }
    return file;
  }

  /** Returns a digest of the average of all ranks. */
  String digest() {
    return whileStreamed(WeightsDigest::of);
  }

  private <T> T whileStreamed(Function<WeightSource, T> action) {
    return sync.whileEvaluated(
        () ->
            statistics.whileAveraged(
                () -> {
                  try (var weights = new StreamedWeights(model)) {
                    return action.apply(weights);
                  }
                }));
  }

  /** Compares the parameters of all ranks if that is due after so many updates. */
  void compareAfter(long updates, Every.Updates every) {
    if (sync.comparesAfter(updates, every.count())) {
      model.gate().settle();
      new ReplicaCheck(model.arena(), collective).compare(updates);
    }
  }

  /** Returns the state in which a part that is each rank's own is kept. */
  Stateful own(Stateful part) {
    return sync.letsRanksDiffer() ? state -> part.remember(new OwnReplica(state)) : part;
  }

  /** Returns what a checkpoint of another number of ranks does not give back. */
  Optional<String> lostFrom(SavedCheckpoint checkpoint) {
    return sync.letsRanksDiffer() && checkpoint.ranks() != collective.size()
        ? Optional.of(
            "each rank goes on from the average of the saved ranks' parameters; the optimizer's"
                + " memory, the loss scale and an unfinished accumulation window, which were each"
                + " rank's own, start anew")
        : Optional.empty();
  }

  @Override
  public void remember(RunState state) {
    if (!sync.letsRanksDiffer()) {
      model.remember(state);
    } else if (state.isSaving()) {
      rememberOwn(state.own());
      sync.whileEvaluated(
          () -> {
            model.remember(state);
            return model;
          });
    } else {
      model.remember(state);
      sync.change(() -> rememberOwn(state.own()));
    }
  }

  private void rememberOwn(State own) {
    var arena = model.arena();
    for (var range : sync.updated(arena.layout())) {
      try (var _ = TensorScope.open()) {
        var values = arena.updatedValues(range);
        if (range.length() == arena.layout().length()) {
          own.tensor("replica/parameters", values);
        } else {
          own.slice("replica/parameters", range.offset(), values);
        }
      }
    }
  }
}
