package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.Tensors;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * Yes or no, once or several times per sample: binary cross entropy of logits, summed over the
 * batch (PyTorch's BCEWithLogitsLoss).
 *
 * <p>L = Σ −p y log σ(z) − (1 − y) log(1 − σ(z)), count = number of logits. Targets are from 0 to
 * 1, in the shape of the logits; whole numbers are taken as they are.
 *
 * @param posWeight factor p on the loss of yes, where it is rare: empty for 1, one number for all,
 *     or one for each index of the last axis
 */
public record BinaryCrossEntropy(
    @Setting(
            doc = "weight of positive targets, > 0: one number, or one per logit; by default 1",
            def = "[]")
        List<Double> posWeight)
    implements Objective {

  private static final long SUM = 2;

  /** Checks the settings. */
  public BinaryCrossEntropy {
    posWeight = List.copyOf(posWeight);
    Check.that(
            posWeight.stream().allMatch(weight -> weight > 0 && Double.isFinite(weight)),
            "pos_weight",
            "must be numbers greater than 0",
            posWeight)
        .orThrow();
  }

  /** Weighs yes and no alike. */
  public BinaryCrossEntropy() {
    this(List.of());
  }

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    return PairedNumbers.loss(
        "binary cross entropy",
        outputs,
        batch,
        (given, wanted) ->
            torch.binary_cross_entropy_with_logits(
                given, wanted.to(given.scalar_type()), new TensorOptional(), positive(given), SUM));
  }

  private TensorOptional positive(Tensor logits) {
    if (posWeight.isEmpty()) {
      return new TensorOptional();
    }
    long last = logits.dim() == 0 ? 1 : logits.size(logits.dim() - 1);
    if (posWeight.size() != 1 && posWeight.size() != last) {
      throw new IllegalArgumentException(
          "there are %d numbers in pos_weight, but %d logits per sample: state one, or one for each"
              .formatted(posWeight.size(), last));
    }
    var weights = Tensors.ofDoubles(posWeight.stream().mapToDouble(Double::doubleValue).toArray());
    return new TensorOptional(ComputeDevice.of(logits).bring(weights.to(logits.scalar_type())));
  }

  @Override
  public double count(Batch batch) {
    return batch.hostTargets().numel();
  }

  @Override
  public Score score(Activations outputs, Batch batch) {
    return Score.NONE;
  }
}
