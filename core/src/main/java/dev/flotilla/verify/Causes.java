package dev.flotilla.verify;

import dev.flotilla.settings.Remedy;
import dev.flotilla.verify.Cause.Kind;
import java.util.ArrayList;
import java.util.List;

/** Collects the causes that probing has found. */
final class Causes {

  private final SwitchedModel model;
  private final List<Cause> found = new ArrayList<>();

  Causes(SwitchedModel model) {
    this.model = model;
  }

  List<Cause> found() {
    return List.copyOf(found);
  }

  void addAll(List<Cause> causes) {
    found.addAll(causes);
  }

  /** Asks the model: in training for mixed samples, in evaluation for the loss. */
  void ofModel(ModelProbes probes, boolean staysRandom) {
    boolean before = model.isEvaluating();
    if (staysRandom) {
      found.add(randomness());
    }
    model.evaluate(false);
    boolean mixes = probes.mixesSamples();
    model.evaluate(true);
    if (mixes) {
      found.add(model.hasStatistics() && !probes.mixesSamples() ? batchNorm(before) : mixing());
    }
    switch (probes.lossKind()) {
      case SUM -> {}
      case MEAN -> found.add(meanLoss());
      case WRONG_COUNT -> found.add(wrongCount());
      case COUPLED -> found.add(coupled());
    }
    model.evaluate(before);
  }

  /** Names what the numbers show where no probe has found anything. */
  void ofNumbers(Differences exact) {
    if (!exact.isFinite()) {
      found.add(
          new Cause(
              Kind.NOT_FINITE,
              "A gradient or a weight is infinite or NaN. Lower the learning rate, or look for a"
                  + " division by zero in the model."));
    } else if (exact.weightsPartFirst(Verification.LIMIT)) {
      found.add(
          new Cause(
              Kind.UPDATE,
              "The gradients agree, but the weights after the same update do not: the optimizer or"
                  + " its learning rate depends on something else than the gradient, such as the"
                  + " number of micro-batches."));
    } else if (found.isEmpty()) {
      found.add(
          new Cause(
              Kind.UNEXPLAINED,
              "Neither the model, nor the loss, nor the composition of the updates explains the"
                  + " difference."));
    }
  }

  private static Cause randomness() {
    return new Cause(
        Kind.RANDOMNESS,
        "Two passes over the same batch with different random numbers give different gradients, in"
            + " evaluation too, so dropout could not be switched off and nothing can be compared."
            + " Let the model draw only when ForwardMode.isTraining().");
  }

  private static Cause batchNorm(boolean isHidden) {
    return new Cause(
        Kind.BATCH_NORM,
        "The output of a sample changes with the other samples of its batch in training, but not in"
            + " evaluation, where running statistics are used: the model normalises over the batch."
            + " A micro-batch has other statistics than the large batch. Use "
            + Remedy.POOLED_STATISTICS.named()
            + ", a normalisation within samples (group or layer), or larger"
            + " micro-batches."
            + (isHidden
                ? " The table does not show it, because it was made as in evaluation."
                : ""));
  }

  private static Cause mixing() {
    return new Cause(
        Kind.MIXED_SAMPLES,
        "The output of a sample changes with the other samples of its batch, in evaluation too."
            + " Merging cannot give each sample the others of the large batch.");
  }

  private static Cause meanLoss() {
    return new Cause(
        Kind.UNEQUAL_COUNTS,
        "The loss of a batch stays the same when every sample is taken twice: it is a mean, where a"
            + " sum over terms and their number are asked for. Return the sum, and let the count"
            + " divide it.");
  }

  private static Cause wrongCount() {
    return new Cause(
        Kind.UNEQUAL_COUNTS,
        "The loss doubles when every sample is taken twice, but its count does not: the mean is"
            + " over another number than that of its terms. Return the number of terms.");
  }

  private static Cause coupled() {
    return new Cause(
        Kind.COUPLING_LOSS,
        "The loss of a batch is not the sum of the losses of its halves, for the same outputs: it"
            + " compares samples with each other, as contrastive losses do. Merging cannot give"
            + " each sample the others of the large batch.");
  }
}
