package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import org.bytedeco.pytorch.global.torch;

/**
 * Regression that large differences do not rule (Huber, 1964), summed over the batch.
 *
 * <p>L = Σ d² / 2 where |d| ≤ δ, and δ (|d| − δ / 2) beyond, with d = z − y; count = number of
 * compared numbers.
 *
 * @param delta where the parabola becomes a line
 */
public record HuberLoss(
    @Setting(doc = "difference at which the loss turns from a square into a line, > 0", def = "1")
        double delta)
    implements Objective {

  private static final long SUM = 2;

  /** Checks the settings. */
  public HuberLoss {
    Check.that(delta > 0, "delta", "must be greater than 0", delta).orThrow();
  }

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    return PairedNumbers.loss(
        "Huber's loss",
        outputs,
        batch,
        (given, wanted) -> torch.huber_loss(given, wanted.to(given.scalar_type()), SUM, delta));
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
