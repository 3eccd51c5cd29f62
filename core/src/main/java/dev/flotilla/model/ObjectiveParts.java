package dev.flotilla.model;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;

/**
 * A loss that is not one sum over one count: L = Σᵢ sumᵢ / divisorᵢ, each over the whole
 * accumulation window and all ranks.
 *
 * <p>Once gradients of several parts have been added up, no division tells them apart again. So
 * divisors are asked of targets before anything runs forward, the engine adds them up over the
 * window and over ranks, and gives each part its factor before backward.
 */
public interface ObjectiveParts {

  /** Returns the number of parts. */
  int size();

  /** Returns what a batch adds to each part's divisor, from its targets alone. */
  double[] divisors(Batch batch);

  /** Returns each part's sum over a batch, times its weight: numbers with a graph behind them. */
  List<Tensor> sums(Activations outputs, Batch batch);

  /** Returns the loss of a batch that is a part of some whole. */
  default LossTerms loss(Activations outputs, Batch batch, Divisors whole) {
    try (var scope = TensorScope.open()) {
      var sums = sums(outputs, batch);
      Tensor sum = sums.getFirst().mul(new Scalar(whole.factor(0)));
      for (int i = 1; i < sums.size(); i++) {
        sum = sum.add(sums.get(i), new Scalar(whole.factor(i)));
      }
      return new LossTerms(scope.handOut(sum), whole.isEmpty() ? 0 : batch.samples());
    }
  }

  /** Returns the loss of a batch that is the whole itself. */
  default LossTerms loss(Activations outputs, Batch batch) {
    return loss(outputs, batch, Divisors.of(this, batch));
  }
}
