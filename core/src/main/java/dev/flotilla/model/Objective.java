package dev.flotilla.model;

import dev.flotilla.data.Batch;
import java.util.Optional;

/** What a model is trained for: a loss as sum and count, and a score for people. */
public interface Objective {

  /** Returns the loss of a batch as a sum over its terms and their number. */
  LossTerms loss(Activations outputs, Batch batch);

  /**
   * Returns the parts of a loss that are divided each by a number of its own; empty for a loss that
   * is one sum over one count.
   */
  default Optional<ObjectiveParts> parts() {
    return Optional.empty();
  }

  /**
   * Returns the count that {@link #loss} will state for a batch, from its targets alone; wanted of
   * an objective that is one of {@linkplain WeightedSum several}.
   */
  default double count(Batch batch) {
    throw new IllegalStateException(
        "%s does not say its count before forward, which a sum of several objectives needs:"
                .formatted(getClass().getSimpleName())
            + " implement count(batch)");
  }

  /**
   * Tells whether that count depends on what is in the targets, and {@link #count} tells it of
   * those in main memory. Passes that are recorded and repeated ask for it then; otherwise it has
   * to be the same for all batches of one size.
   */
  default boolean countsTargets() {
    return false;
  }

  /**
   * Refuses targets that outputs of this shape have no place for, by what is in main memory alone:
   * asked where {@link #loss}, which has done so when a pass was recorded, is not called again
   * because the pass is repeated. By default nothing is refused.
   *
   * @throws IllegalArgumentException that says which target it is
   */
  default void requireTargets(Activations outputs, Batch batch) {}

  /** Counts right answers; objectives without such a notion return {@link Score#NONE}. */
  Score score(Activations outputs, Batch batch);

  /**
   * Returns outputs and targets for metrics, row by row; by default the only output and the targets
   * as they are.
   */
  default Answers answers(Activations outputs, Batch batch) {
    return new Answers(outputs.only(), batch.targets());
  }

  /** Returns what the model is asked for; by default something that others cannot read. */
  default Task task() {
    return Task.OTHER;
  }
}
