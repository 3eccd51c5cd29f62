package dev.flotilla.model;

import dev.flotilla.memory.TensorScope;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;

/**
 * The classes that a classifier thinks best, some rows at a time: libtorch copies what it sorts,
 * and the logits of a vocabulary are among the largest tensors of a step.
 */
public final class BestGuesses {

  private static final int WANTED = 5;

  /** Numbers that are looked at at once. */
  private static final long AT_ONCE = 1L << 26;

  private BestGuesses() {}

  /**
   * Counts right ones, of the best guesses and of the five best.
   *
   * @param logits answers × classes
   * @param classes the right one of each answer
   * @param samples that are asked
   */
  public static Score score(Tensor logits, Tensor classes, long samples) {
    return score(logits, classes, samples, Math.max(1, AT_ONCE / Math.max(1, logits.size(1))));
  }

  static Score score(Tensor logits, Tensor classes, long samples, long rows) {
    try (var _ = TensorScope.open()) {
      Tensor hits = of(logits.detach(), rows).eq(classes.unsqueeze(1));
      return Score.of(hits.sum(0), samples);
    }
  }

  private static Tensor of(Tensor logits, long rows) {
    List<Tensor> parts = new ArrayList<>();
    long from = 0;
    do {
      long count = Math.min(rows, logits.size(0) - from);
      parts.add(some(logits.narrow(0, from, count)));
      from += count;
    } while (from < logits.size(0));
    return parts.size() == 1
        ? parts.getFirst()
        : torch.cat(new TensorVector(parts.toArray(Tensor[]::new)));
  }

  private static Tensor some(Tensor logits) {
    try (var scope = TensorScope.open()) {
      // What get1() gives lies in the pair, which goes with this scope.
      return scope.handOut(new Tensor(torch.topk(logits, Math.min(WANTED, logits.size(1))).get1()));
    }
  }
}
