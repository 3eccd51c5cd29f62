package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import java.util.function.BinaryOperator;
import org.bytedeco.pytorch.Tensor;

/** What losses share that compare outputs and targets number by number. */
final class PairedNumbers {

  private PairedNumbers() {}

  /**
   * Returns a loss whose terms are all pairs of numbers. Outputs and targets have the same shape:
   * libtorch would compare n numbers [n, 1] with every one of n numbers [n].
   *
   * @param name what messages call the loss
   * @param sum gives the sum over all pairs, of outputs and of targets
   */
  static LossTerms loss(String name, Activations outputs, Batch batch, BinaryOperator<Tensor> sum) {
    try (var scope = TensorScope.open()) {
      var given = outputs.only();
      var wanted = Shape.of(batch.targets().shape());
      if (!Shape.of(given.shape()).equals(wanted)) {
        throw new IllegalArgumentException(
            "%s compares number by number, but targets have shape %s: give both the same shape"
                .formatted(name, wanted));
      }
      return new LossTerms(scope.handOut(sum.apply(given, batch.targets())), given.numel());
    }
  }
}
