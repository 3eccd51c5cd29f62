package dev.flotilla.verify;

import dev.flotilla.model.Activations;
import java.util.Arrays;
import java.util.Optional;
import org.bytedeco.pytorch.Tensor;

/**
 * Questions to a model and its loss, answered by running them.
 *
 * <p>They take two micro-batches, called left and right.
 */
final class ModelProbes {

  /** What a loss makes of a batch. */
  enum LossKind {
    /** A sum over samples, with a count that grows with them. */
    SUM,
    /** A mean, although a sum is asked for. */
    MEAN,
    /** A sum whose count does not grow with the samples. */
    WRONG_COUNT,
    /** Neither: samples act on each other. */
    COUPLED
  }

  private static final double ROUNDING = 1e-9;

  private final Probe probe;
  private final int[] left;
  private final int[] right;

  ModelProbes(Probe probe, MicroBatch left, MicroBatch right) {
    this.probe = probe;
    this.left = left.samples();
    this.right = right.samples();
  }

  /** Tells whether the same batch gives another gradient with other random numbers. */
  boolean isRandom() {
    var once = probe.pass(left, 0);
    var again = probe.pass(left, 1);
    return differ(once.gradient(), again.gradient()) || differ(once.loss(), again.loss());
  }

  /**
   * Tells whether the outputs of the left samples change when the right ones are exchanged. The
   * shapes and the seed stay, so that dropout draws the same.
   */
  boolean mixesSamples() {
    int[] others = Arrays.copyOf(left, right.length);
    for (int i = left.length; i < others.length; i++) {
      others[i] = left[i % left.length];
    }
    var once = leftOutputs(join(left, right));
    var again = leftOutputs(join(left, others));
    return once.isPresent() && again.isPresent() && differ(once.get(), again.get());
  }

  private Optional<double[]> leftOutputs(int[] samples) {
    return probe.outputs(
        samples,
        (outputs, _) -> rows(outputs, 0, left.length, samples.length).map(ModelProbes::allNumbers));
  }

  private static double[] allNumbers(Activations activations) {
    return activations.tensors().stream()
        .map(FlatCopy::of)
        .flatMapToDouble(Arrays::stream)
        .toArray();
  }

  /** Asks the loss about parts of the same outputs, so that the model has no say in the answer. */
  LossKind lossKind() {
    var halves = cut(left, right);
    if (halves.terms() == halves.partTerms() && !differ(halves.sum(), halves.partSum())) {
      return LossKind.SUM;
    }
    var twice = cut(left, left);
    if (!differ(twice.sum(), twice.partSum() / 2)) {
      return LossKind.MEAN;
    }
    boolean isSum = !differ(twice.sum(), twice.partSum());
    return isSum && twice.terms() != twice.partTerms() ? LossKind.WRONG_COUNT : LossKind.COUPLED;
  }

  /** A loss of two parts together, and what their own losses add up to. */
  private record Cut(double sum, long terms, double partSum, long partTerms) {
    static Cut of(Probe.Loss whole, Probe.Loss first, Probe.Loss second) {
      return new Cut(
          whole.sum(), whole.terms(), first.sum() + second.sum(), first.terms() + second.terms());
    }
  }

  private Cut cut(int[] first, int[] second) {
    int[] all = join(first, second);
    try {
      return probe.outputs(
          all,
          (outputs, batch) ->
              Cut.of(
                  probe.loss(outputs, batch),
                  probe.loss(part(outputs, 0, first.length, all.length), first),
                  probe.loss(part(outputs, first.length, second.length, all.length), second)));
    } catch (RuntimeException _) {
      // Outputs that cannot be cut, or that targets of a part do not fit: the model runs on parts.
      return Cut.of(
          probe.outputs(all, probe::loss),
          probe.outputs(first, probe::loss),
          probe.outputs(second, probe::loss));
    }
  }

  private static Activations part(Activations outputs, int from, int count, int all) {
    return rows(outputs, from, count, all)
        .orElseThrow(() -> new IllegalStateException("outputs have no rows of samples"));
  }

  /** Returns the rows of some samples, where every output has the same number per sample. */
  private static Optional<Activations> rows(Activations outputs, int from, int count, int all) {
    boolean byRow = outputs.tensors().stream().allMatch(t -> t.dim() > 0 && t.size(0) % all == 0);
    return byRow
        ? Optional.of(
            new Activations(
                outputs.tensors().stream().map(t -> rows(t, from, count, all)).toList()))
        : Optional.empty();
  }

  private static Tensor rows(Tensor output, int from, int count, int all) {
    long each = output.size(0) / all;
    return output.narrow(0, from * each, count * each);
  }

  private static int[] join(int[] first, int[] second) {
    int[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  private static boolean differ(double one, double other) {
    return !(Math.abs(one - other) <= ROUNDING * Math.max(Math.abs(one), Math.abs(other)));
  }

  private static boolean differ(double[] one, double[] other) {
    double difference = 0;
    double size = 0;
    for (int i = 0; i < one.length; i++) {
      difference += (one[i] - other[i]) * (one[i] - other[i]);
      size += one[i] * one[i] + other[i] * other[i];
    }
    return !(Math.sqrt(difference) <= ROUNDING * Math.sqrt(size));
  }
}
