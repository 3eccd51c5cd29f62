package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.util.List;
import java.util.Optional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * One class per sample, pixel or token: cross entropy of logits, summed over what is not ignored.
 *
 * <p>L = Σᵢ (1 − ε) w[yᵢ] (−log pᵢ[yᵢ]) + ε / K Σ_c w[c] (−log pᵢ[c]), pᵢ = softmax(zᵢ), over the i
 * whose class is not {@code ignoreIndex}; count = their number. With {@code weightedMean} the
 * divisor is Σᵢ w[yᵢ] over the same i, as PyTorch's for class weights; over the whole accumulation
 * window and all ranks it is the large batch's.
 *
 * @param labelSmoothing share ε that goes to all classes alike
 * @param classWeights weight w of each class; empty for 1
 * @param ignoreIndex the class of what has no part in the loss, or null
 * @param weightedMean whether to divide by the weights of the targets instead of their number
 */
public record CrossEntropy(
    @Setting(
            doc = "share of the target that is spread evenly over all classes, in [0, 1)",
            def = "0")
        double labelSmoothing,
    @Setting(doc = "weight of each class, >= 0; by default 1", def = "[]")
        List<Double> classWeights,
    @Setting(
            doc = "class number of targets that are left out of the loss; by default none",
            def = "null")
        @Nullable Long ignoreIndex,
    @Setting(
            doc =
                "divide by the sum of the targets' class weights, as PyTorch does, not by their"
                    + " number",
            def = "false")
        boolean weightedMean)
    implements Objective {

  private static final long EACH = 0;
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
        .and(
            !weightedMean || !classWeights.isEmpty(),
            "weighted_mean",
            "needs class_weights to divide by",
            weightedMean)
        .orThrow();
  }

  /** Divides by the number of targets. */
  public CrossEntropy(
      double labelSmoothing, List<Double> classWeights, @Nullable Long ignoreIndex) {
    this(labelSmoothing, classWeights, ignoreIndex, false);
  }

  /** Divides the sum by the weights of the targets. */
  private record WeightedMean(CrossEntropy of) implements ObjectiveParts {

    @Override
    public int size() {
      return 1;
    }

    @Override
    public double[] divisors(Batch batch) {
      return new double[] {of.count(batch)};
    }

    @Override
    public List<Tensor> sums(Activations outputs, Batch batch) {
      return List.of(of.sum(outputs, batch));
    }
  }

  @Override
  public Optional<ObjectiveParts> parts() {
    return weightedMean ? Optional.of(new WeightedMean(this)) : Optional.empty();
  }

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    if (MixedClasses.areIn(batch)) {
      return mixed(outputs, batch);
    }
    return weightedMean
        ? new WeightedMean(this).loss(outputs, batch)
        : new LossTerms(sum(outputs, batch), counted(batch.hostTargets()));
  }

  private LossTerms mixed(Activations outputs, Batch batch) {
    if (weightedMean || ignoreIndex != null) {
      throw new IllegalArgumentException(
          "mixed samples have two classes each, so that neither weighted_mean nor ignore_index says"
              + " what to divide by: state neither, or mix no samples");
    }
    try (var scope = TensorScope.open()) {
      var sum = MixedClasses.sum(batch, one -> loss(outputs, one, EACH));
      return new LossTerms(scope.handOut(sum), batch.samples());
    }
  }

  private Tensor sum(Activations outputs, Batch batch) {
    try (var scope = TensorScope.open()) {
      return scope.handOut(loss(outputs, batch, SUM));
    }
  }

  private Tensor loss(Activations outputs, Batch batch, long reduction) {
    var logits = outputs.only();
    requireClassForEach(logits, batch.targets());
    if (logits.is_cuda()) {
      ClassRange.require(batch.hostTargets(), logits.size(1), ignoreIndex);
    }
    return torch.cross_entropy_loss(
        logits, batch.targets(), weights(logits), reduction, ignored(), labelSmoothing);
  }

  @Override
  public void requireTargets(Activations outputs, Batch batch) {
    long classes = outputs.only().size(1);
    MixedClasses.each(batch)
        .forEach(it -> ClassRange.require(it.hostTargets(), classes, ignoreIndex));
  }

  @Override
  public double count(Batch batch) {
    try (var _ = TensorScope.open()) {
      var classes = batch.hostTargets();
      return weightedMean ? weightOf(classes) : counted(classes);
    }
  }

  private double weightOf(Tensor classes) {
    double sum = 0;
    for (int i = 0; i < classWeights.size(); i++) {
      if (i != ignored()) {
        sum += classWeights.get(i) * classes.eq(new Scalar((long) i)).sum().item_long();
      }
    }
    return sum;
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
