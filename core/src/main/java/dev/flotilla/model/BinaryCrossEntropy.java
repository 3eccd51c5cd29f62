package dev.flotilla.model;

import dev.flotilla.data.Batch;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * Yes or no, once or several times per sample: binary cross entropy of logits, summed over the
 * batch (PyTorch's BCEWithLogitsLoss).
 *
 * <p>L = Σ −y log σ(z) − (1 − y) log(1 − σ(z)), count = number of logits. Targets are from 0 to 1,
 * in the shape of the logits; whole numbers are taken as they are.
 */
public record BinaryCrossEntropy() implements Objective {

  private static final long SUM = 2;

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    return PairedNumbers.loss(
        "binary cross entropy",
        outputs,
        batch,
        (given, wanted) ->
            torch.binary_cross_entropy_with_logits(
                given,
                wanted.to(given.scalar_type()),
                new TensorOptional(),
                new TensorOptional(),
                SUM));
  }

  @Override
  public Score score(Activations outputs, Batch batch) {
    return Score.NONE;
  }
}
