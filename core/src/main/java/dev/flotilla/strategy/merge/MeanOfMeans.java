package dev.flotilla.strategy.merge;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.pass.MicroStep;
import java.util.List;
import org.bytedeco.pytorch.Scalar;

/**
 * Makes each micro-batch one term, its own mean, so that an accumulation window is a mean of means.
 */
record MeanOfMeans(ForwardBackward inner) implements ForwardBackward {

  @Override
  public List<LossTerms> forward(List<Batch> batches, MicroStep step) {
    return inner.forward(batches, step).stream().map(MeanOfMeans::mean).toList();
  }

  private static LossTerms mean(LossTerms terms) {
    if (terms.count() == 0) {
      return terms;
    }
    try (var scope = TensorScope.open()) {
      var mean = terms.sum().div(new Scalar((double) terms.count()));
      return new LossTerms(scope.handOut(mean), 1);
    }
  }

  @Override
  public void backward(List<LossTerms> losses, MicroStep step) {
    inner.backward(losses, step);
  }
}
