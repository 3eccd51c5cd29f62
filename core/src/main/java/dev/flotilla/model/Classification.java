package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * One class per sample: cross entropy of logits, summed over the batch; scored by top 1 and top 5.
 *
 * <p>L = Σᵢ −log softmax(zᵢ)[yᵢ], count = number of samples. Of mixed samples, which have two
 * classes and the share of the first, it is the mean weighted by the shares; they are scored by the
 * first.
 */
public record Classification() implements Objective {

  private static final long EACH = 0;
  private static final long SUM = 2;

  /** No target: libtorch's own −100 would leave samples out of the sum that are counted. */
  private static final long NO_IGNORED_CLASS = Long.MIN_VALUE;

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    try (var scope = TensorScope.open()) {
      var sum =
          MixedClasses.areIn(batch)
              ? MixedClasses.sum(batch, one -> loss(outputs, one, EACH))
              : loss(outputs, batch, SUM);
      return new LossTerms(scope.handOut(sum), batch.samples());
    }
  }

  private static Tensor loss(Activations outputs, Batch batch, long reduction) {
    requireOneClassPerSample(outputs.only(), batch.targets());
    if (outputs.only().is_cuda()) {
      ClassRange.require(batch.hostTargets(), outputs.only().size(1), null);
    }
    return torch.cross_entropy_loss(
        outputs.only(), batch.targets(), new TensorOptional(), reduction, NO_IGNORED_CLASS, 0);
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
  public void requireTargets(Activations outputs, Batch batch) {
    long classes = outputs.only().size(1);
    MixedClasses.each(batch).forEach(it -> ClassRange.require(it.hostTargets(), classes, null));
  }

  @Override
  public double count(Batch batch) {
    return batch.samples();
  }

  @Override
  public Score score(Activations outputs, Batch given) {
    try (var _ = TensorScope.open()) {
      var batch = MixedClasses.areIn(given) ? given.withTarget(0) : given;
      return BestGuesses.score(outputs.only(), batch.targets(), batch.samples());
    }
  }

  @Override
  public Task task() {
    return Task.CLASSIFICATION;
  }
}
