package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;

/**
 * Regression: squared differences, summed over the batch.
 *
 * <p>L = Σ (z − y)², count = number of compared numbers, so that the mean is the mean squared
 * error.
 */
public record SquaredError() implements Objective {

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    try (var scope = TensorScope.open()) {
      var sum = outputs.only().sub(batch.targets()).square().sum();
      return new LossTerms(scope.handOut(sum), outputs.only().numel());
    }
  }

  @Override
  public Score score(Activations outputs, Batch batch) {
    return Score.NONE;
  }
}
