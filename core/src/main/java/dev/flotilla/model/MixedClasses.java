package dev.flotilla.model;

import dev.flotilla.data.Batch;
import java.util.List;
import java.util.function.Function;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * Targets of mixed samples (mixup, CutMix): a class, another class, and the share λ of the first.
 *
 * <p>L = Σᵢ λᵢ Lᵢ(aᵢ) + (1 − λᵢ) Lᵢ(bᵢ), count = number of samples.
 */
final class MixedClasses {

  private static final int TENSORS = 3;

  private MixedClasses() {}

  static boolean areIn(Batch batch) {
    return batch.allTargets().size() == TENSORS;
  }

  /** Returns a batch once for each class that its samples have. */
  static List<Batch> each(Batch batch) {
    return areIn(batch) ? List.of(batch.withTarget(0), batch.withTarget(1)) : List.of(batch);
  }

  /**
   * Returns the sum of a loss.
   *
   * @param each gives the loss of each sample, by the batch's only target
   */
  static Tensor sum(Batch batch, Function<Batch, Tensor> each) {
    Tensor first = each.apply(batch.withTarget(0));
    Tensor second = each.apply(batch.withTarget(1));
    Tensor share = batch.allTargets().get(2).to(first.scalar_type());
    return first.mul(share).add(second.mul(share.neg().add(new Scalar(1)))).sum();
  }
}
