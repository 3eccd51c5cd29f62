package dev.flotilla.strategy.merge;

import dev.flotilla.data.Batch;
import dev.flotilla.engine.ForwardBackward;
import dev.flotilla.engine.MicroStep;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import org.bytedeco.pytorch.Scalar;

/** Makes each micro-batch one term, its own mean, so that a window is a mean of means. */
record MeanOfMeans(ForwardBackward inner) implements ForwardBackward {

  @Override
  public LossTerms forward(Batch batch, MicroStep step) {
    try (var scope = TensorScope.open()) {
      var terms = inner.forward(batch, step);
      if (terms.count() == 0) {
        return new LossTerms(scope.handOut(terms.sum()), 0);
      }
      var mean = terms.sum().div(new Scalar((double) terms.count()));
      return new LossTerms(scope.handOut(mean), 1);
    }
  }

  @Override
  public void backward(LossTerms loss, MicroStep step) {
    inner.backward(loss, step);
  }
}
