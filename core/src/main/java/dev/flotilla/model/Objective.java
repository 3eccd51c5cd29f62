package dev.flotilla.model;

import dev.flotilla.data.Batch;

/** What a model is trained for: a loss as sum and count, and a score for people. */
public interface Objective {

  /** Returns the loss of a batch as a sum over its terms and their number. */
  LossTerms loss(Activations outputs, Batch batch);

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
