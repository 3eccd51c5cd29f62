package dev.flotilla.model;

import dev.flotilla.data.Batch;

/**
 * Regression: squared differences, summed over the batch.
 *
 * <p>L = Σ (z − y)², count = number of compared numbers, so that the mean is the mean squared
 * error. Outputs and targets have the same shape: libtorch would compare n numbers [n, 1] with
 * every one of n numbers [n].
 */
public record SquaredError() implements Objective {

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    return PairedNumbers.loss(
        "squared error", outputs, batch, (given, wanted) -> given.sub(wanted).square().sum());
  }

  @Override
  public double count(Batch batch) {
    return batch.hostTargets().numel();
  }

  @Override
  public Score score(Activations outputs, Batch batch) {
    return Score.NONE;
  }

  @Override
  public Task task() {
    return Task.REGRESSION;
  }
}
