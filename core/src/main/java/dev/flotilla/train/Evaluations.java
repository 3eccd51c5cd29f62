package dev.flotilla.train;

import dev.flotilla.data.Dataset;
import dev.flotilla.pass.Evaluation;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Evaluates the model, and the moving average of its weights where there is one; tells nobody. All
 * ranks call each method together.
 *
 * @param model what is evaluated
 * @param loop names the loop's data, and the batch
 */
record Evaluations(AveragedReplica model, LoopSettings loop) {

  Evaluation on(Dataset data) {
    return on(data, () -> false).orElseThrow();
  }

  /** Evaluates on all data of the loop's settings, which name some. */
  Evaluation onLoopData() {
    return onLoopData(() -> false).orElseThrow();
  }

  /** Like {@link #onLoopData()}, unless a rank gives up meanwhile; then all of them do. */
  Optional<Evaluation> onLoopData(BooleanSupplier givesUp) {
    var all = on(Objects.requireNonNull(loop.testData()), givesUp);
    for (var other : loop.others().entrySet()) {
      var name = other.getKey();
      var data = other.getValue();
      all = all.flatMap(it -> on(data, givesUp).map(more -> it.with(name, more)));
    }
    return all;
  }

  private Optional<Evaluation> on(Dataset data, BooleanSupplier givesUp) {
    return model.evaluate(data, loop.evaluationBatch(), givesUp);
  }
}
