package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;

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
    try (var scope = TensorScope.open()) {
      var given = Shape.of(outputs.only().shape());
      var wanted = Shape.of(batch.targets().shape());
      if (!given.equals(wanted)) {
        throw new IllegalArgumentException(
            "squared error compares number by number, but targets have shape %s: give both the same"
                    .formatted(wanted)
                + " shape");
      }
      var sum = outputs.only().sub(batch.targets()).square().sum();
      return new LossTerms(scope.handOut(sum), outputs.only().numel());
    }
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
