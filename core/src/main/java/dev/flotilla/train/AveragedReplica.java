package dev.flotilla.train;

import dev.flotilla.data.Dataset;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.step.MovingAverage;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The model with a moving average of its weights in their place; before that begins, and where
 * there is none, the model as it is. All ranks call each method together.
 *
 * @param replica this rank's copy of the model
 * @param average the other weights
 * @param name how evaluations name it; nothing where there is none
 */
record AveragedReplica(Replica replica, MovingAverage average, Optional<String> name) {

  /**
   * Evaluates the model and, where there is one, the average, whose values stand beside the
   * model's; nothing if a rank gives up.
   */
  Optional<Evaluation> evaluate(Dataset data, int batch, BooleanSupplier givesUp) {
    var live = replica.evaluate(data, batch, givesUp);
    if (name.isEmpty() || live.isEmpty()) {
      return live;
    }
    var averaged =
        average.hasBegun()
            ? average.whileInPlace(() -> replica.evaluate(data, batch, givesUp))
            : live;
    return averaged.map(it -> live.orElseThrow().with(name.orElseThrow(), it));
  }

  /** Reads the model with the average in place of its parameters. */
  <T> T read(Function<BoundModel, T> action) {
    requireOne();
    return average.whileInPlace(() -> replica.whilePublished(() -> action.apply(settled())));
  }

  private BoundModel settled() {
    replica.model().gate().settle();
    return replica.model();
  }

  /** Writes the average, by rank 0; the others wait for it. */
  void write(Path file) {
    requireOne();
    Path _ =
        average.whileInPlace(
            () -> {
              replica.write(file);
              return file;
            });
  }

  /** Returns a digest of the average, if there is one. */
  Optional<String> digest() {
    return name.map(_ -> average.whileInPlace(replica::digest));
  }

  private void requireOne() {
    if (name.isEmpty()) {
      throw new IllegalStateException(
          "the trainer keeps no moving average: add strategy(new Ema(0.999))");
    }
  }
}
