package dev.flotilla.model;

import dev.flotilla.data.Batch;

/**
 * Regression: absolute differences, summed over the batch (PyTorch's L1Loss).
 *
 * <p>L = Σ |z − y|, count = number of compared numbers, so that the mean is the mean absolute
 * error.
 */
public record AbsoluteError() implements Objective {

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    return PairedNumbers.loss(
        "absolute error", outputs, batch, (given, wanted) -> given.sub(wanted).abs().sum());
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
