package dev.flotilla.zoo.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Answers;
import dev.flotilla.model.BestGuesses;
import dev.flotilla.model.ClassRange;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Score;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Task;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * BERT's two tasks: which tokens were masked, and whether the second sentence follows the first.
 *
 * <p>BERT's loss is a mean over M masked positions plus a mean over N sequences. M and N are known
 * only when the last micro-batch of the last rank has been seen, and one gradient can be divided by
 * one number. So the loss has one count, M, and a fixed weight w between the tasks:
 *
 * <p>L = (Σ masked positions −log p(token) + w · Σ sequences −log p(follows)) / M.
 *
 * <p>This is a sum over terms, so that gradient merge and any number of ranks give exactly the
 * gradient of the one large batch. With w = M / N, masked positions per sequence, it is the sum of
 * the two means; at 15 % that is about 19 for sequences of 128 tokens and 77 for 512.
 *
 * <p>Targets are int64 [n, 1 + most]: 0 for a true second sentence, 1 for a random one, −100 for
 * none; then the tokens at the masked positions, filled up with −100. The score is that of the
 * masked positions.
 *
 * @param nspWeight w, how many masked positions a sequence counts for
 */
public record BertPretraining(double nspWeight) implements Objective {

  private static final long SUM = 2;
  private static final long IGNORED = -100;

  @Override
  public LossTerms loss(Activations outputs, Batch batch) {
    try (var scope = TensorScope.open()) {
      requireBothHeads(outputs.tensors(), batch.targets());
      Tensor tokens = predictedTokens(batch);
      requirePlaces(outputs.tensors().get(0), tokens);
      if (tokens.is_cuda()) {
        requireTargets(outputs, batch);
      }
      Tensor follows = batch.targets().select(1, 0);
      Tensor words = sum(outputs.tensors().get(0), tokens);
      Tensor sentences = sum(outputs.tensors().get(1), follows);
      Tensor sum = words.add(sentences, new Scalar(nspWeight));
      return new LossTerms(scope.handOut(sum), maskedTokens(batch.hostTargets()).numel());
    }
  }

  @Override
  public void requireTargets(Activations outputs, Batch batch) {
    try (var _ = TensorScope.open()) {
      Tensor targets = batch.hostTargets();
      ClassRange.require(targets.narrow(1, 0, 1), outputs.tensors().get(1).size(1), IGNORED);
      Tensor tokens = targets.narrow(1, 1, targets.size(1) - 1);
      ClassRange.require(tokens, outputs.tensors().get(0).size(1), IGNORED);
    }
  }

  @Override
  public double count(Batch batch) {
    try (var _ = TensorScope.open()) {
      return maskedTokens(batch.hostTargets()).numel();
    }
  }

  @Override
  public boolean countsTargets() {
    return true;
  }

  private static void requireBothHeads(List<Tensor> outputs, Tensor targets) {
    boolean fit =
        outputs.size() == 2
            && outputs.stream().allMatch(logits -> logits.dim() == 2)
            && targets.dim() == 2
            && outputs.get(1).size(0) == targets.size(0);
    if (!fit) {
      throw new IllegalArgumentException(
          "pre-training takes two outputs, positions x tokens and samples x 2, and targets of"
              + " samples x (1 + positions), but targets have shape "
              + Shape.of(targets.shape()));
    }
  }

  private static void requirePlaces(Tensor logits, Tensor tokens) {
    if (logits.size(0) != tokens.size(0)) {
      throw new IllegalArgumentException(
          "tokens were predicted for %d masked positions, but the targets hold %d"
              .formatted(logits.size(0), tokens.size(0)));
    }
  }

  private static Tensor sum(Tensor logits, Tensor classes) {
    return LeanCrossEntropy.suits(logits)
        ? LeanCrossEntropy.sum(logits, classes)
        : torch.cross_entropy_loss(logits, classes, new TensorOptional(), SUM, IGNORED, 0);
  }

  /**
   * Returns the tokens at the positions that the head has predicted, in its order; on a device with
   * {@code IGNORED} where a sequence has fewer than others.
   */
  private static Tensor predictedTokens(Batch batch) {
    var targets = batch.targets();
    return targets.is_cuda()
        ? targets.narrow(1, 1, targets.size(1) - 1).flatten()
        : maskedTokens(targets);
  }

  private static Tensor maskedTokens(Tensor targets) {
    Tensor tokens = targets.narrow(1, 1, targets.size(1) - 1);
    return tokens.masked_select(tokens.ge(new Scalar(0)));
  }

  @Override
  public Score score(Activations outputs, Batch batch) {
    try (var _ = TensorScope.open()) {
      long masked = maskedTokens(batch.hostTargets()).numel();
      return BestGuesses.score(outputs.tensors().get(0), predictedTokens(batch), masked);
    }
  }

  /** Which tokens were masked; whether sentences follow each other is left out. */
  @Override
  public Answers answers(Activations outputs, Batch batch) {
    try (var scope = TensorScope.open()) {
      Tensor tokens = predictedTokens(batch);
      Tensor places = tokens.ge(new Scalar(0)).nonzero().flatten();
      return new Answers(
          scope.handOut(outputs.tensors().get(0).index_select(0, places)),
          scope.handOut(tokens.index_select(0, places)));
    }
  }

  @Override
  public Task task() {
    return Task.CLASSIFICATION;
  }
}
