package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * One class per sample: cross entropy of logits, summed over the batch; scored by top 1 and top 5.
 *
 * <p>L = Σᵢ −log softmax(zᵢ)[yᵢ], count = number of samples.
 */
public record Classification() implements Objective {

  private static final long SUM = 2;

  /** No target: libtorch's own −100 would leave samples out of the sum that are counted. */
  private static final long NO_IGNORED_CLASS = Long.MIN_VALUE;

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    try (var scope = TensorScope.open()) {
      requireOneClassPerSample(outputs.only(), batch.targets());
      var sum =
          torch.cross_entropy_loss(
              outputs.only(), batch.targets(), new TensorOptional(), SUM, NO_IGNORED_CLASS, 0);
      return new LossTerms(scope.handOut(sum), batch.samples());
    }
  }

  /** libtorch also takes a class for each pixel, or probabilities, which would be counted wrong. */
  private static void requireOneClassPerSample(Tensor logits, Tensor classes) {
    if (logits.dim() != 2 || classes.dim() != 1 || logits.size(0) != classes.size(0)) {
      throw new IllegalArgumentException(
          "classification takes outputs of shape samples x classes and a target for each sample,"
              + " but targets have shape "
              + Shape.of(classes.shape()));
    }
  }

  @Override
  public double count(Batch batch) {
    return batch.samples();
  }

  @Override
  public Score score(Activations outputs, Batch batch) {
    try (var _ = TensorScope.open()) {
      Tensor logits = outputs.only().detach();
      long guesses = Math.min(5, logits.size(1));
      Tensor hits = torch.topk(logits, guesses).get1().eq(batch.targets().unsqueeze(1));
      long top1 = hits.narrow(1, 0, 1).sum().item_long();
      return new Score(top1, hits.sum().item_long(), batch.samples());
    }
  }

  @Override
  public Task task() {
    return Task.CLASSIFICATION;
  }
}
