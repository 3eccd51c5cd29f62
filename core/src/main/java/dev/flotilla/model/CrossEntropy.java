package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * One class per sample, pixel or token: cross entropy of logits, summed over what is not ignored.
 *
 * <p>L = Σᵢ (1 − ε) w[yᵢ] (−log pᵢ[yᵢ]) + ε / K Σ_c w[c] (−log pᵢ[c]), pᵢ = softmax(zᵢ), over the i
 * whose class is not {@code ignoreIndex}; count = their number. With class weights PyTorch divides
 * by the sum of the weights of the targets instead: give weights a mean of 1 over the data, and
 * both agree on average.
 *
 * @param labelSmoothing share ε that goes to all classes alike
 * @param classWeights weight w of each class; empty for 1
 * @param ignoreIndex the class of what has no part in the loss, or null
 */
public record CrossEntropy(
    @Setting(doc = "share that goes to all classes alike, in [0, 1)", def = "0")
        double labelSmoothing,
    @Setting(doc = "weight of each class, >= 0; by default 1", def = "[]")
        List<Double> classWeights,
    @Setting(doc = "the class of what has no part in the loss; by default none", def = "null")
        @Nullable Long ignoreIndex)
    implements Objective {

  private static final long SUM = 2;

  /** No target: libtorch's own −100 would leave out of the sum what is counted. */
  private static final long NONE = Long.MIN_VALUE;

  /** Checks the settings. */
  public CrossEntropy {
    classWeights = List.copyOf(classWeights);
    Check.that(
            labelSmoothing >= 0 && labelSmoothing < 1,
            "label_smoothing",
            "must be in [0, 1)",
            labelSmoothing)
        .and(
            classWeights.stream().allMatch(weight -> weight >= 0 && Double.isFinite(weight)),
            "class_weights",
            "must be numbers of at least 0",
            classWeights)
        .orThrow();
  }

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    try (var scope = TensorScope.open()) {
      var logits = outputs.only();
      requireClassForEach(logits, batch.targets());
      var sum =
          torch.cross_entropy_loss(
              logits, batch.targets(), weights(logits), SUM, ignored(), labelSmoothing);
      return new LossTerms(scope.handOut(sum), counted(batch.hostTargets()));
    }
  }

  private long ignored() {
    return ignoreIndex == null ? NONE : ignoreIndex;
  }

  private long counted(Tensor classes) {
    return ignoreIndex == null
        ? classes.numel()
        : classes.ne(new Scalar(ignoreIndex.longValue())).sum().item_long();
  }

  private void requireClassForEach(Tensor logits, Tensor classes) {
    boolean fits = logits.dim() >= 2 && classes.dim() == logits.dim() - 1;
    for (int i = 0; fits && i < classes.dim(); i++) {
      fits = classes.size(i) == logits.size(i == 0 ? 0 : i + 1);
    }
    if (!fits) {
      throw new IllegalArgumentException(
          "cross entropy takes outputs of shape samples x classes x …, and a class for each sample"
              + " and place, but outputs have shape %s and targets %s"
                  .formatted(Shape.of(logits.shape()), Shape.of(classes.shape())));
    }
    if (!classWeights.isEmpty() && classWeights.size() != logits.size(1)) {
      throw new IllegalArgumentException(
          "there are %d class weights, but outputs for %d classes"
              .formatted(classWeights.size(), logits.size(1)));
    }
  }

  private TensorOptional weights(Tensor logits) {
    if (classWeights.isEmpty()) {
      return new TensorOptional();
    }
    var weights =
        Tensors.ofDoubles(classWeights.stream().mapToDouble(Double::doubleValue).toArray());
    return new TensorOptional(ComputeDevice.of(logits).bring(weights.to(logits.scalar_type())));
  }

  /** Counts right guesses of samples; of pixels and tokens a metric may. */
  @Override
  public Score score(Activations outputs, Batch batch) {
    if (outputs.only().dim() != 2 || ignoreIndex != null) {
      return Score.NONE;
    }
    return new Classification().score(outputs, batch);
  }

  @Override
  public Task task() {
    return ignoreIndex == null ? Task.CLASSIFICATION : Task.OTHER;
  }
}
