package dev.flotilla.strategy.precision;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.pass.ForwardBackward;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.wire.Dtype;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.jspecify.annotations.Nullable;

/** Runs forward in 16 bits, and starts backward from the loss scale where there is one. */
record HalfPass(ForwardBackward inner, Dtype type, @Nullable LossScale scale, ComputeDevice device)
    implements ForwardBackward {

  @Override
  public List<LossTerms> forward(List<Batch> batches, MicroStep step) {
    try (var _ = Autocast.to(type.scalarType(), device)) {
      return inner.forward(batches, step);
    }
  }

  /** A loss scale changes from update to update. */
  @Override
  public boolean isRepeated() {
    return scale == null && inner.isRepeated();
  }

  @Override
  public void backward(List<LossTerms> losses, MicroStep step) {
    if (scale == null) {
      inner.backward(losses, step);
      return;
    }
    long terms = losses.stream().mapToLong(LossTerms::count).sum();
    double seed = scale.seed(terms);
    try (var _ = TensorScope.open()) {
      var factor = new Scalar(seed);
      var scaled =
          losses.stream().map(loss -> new LossTerms(loss.sum().mul(factor), loss.count())).toList();
      inner.backward(scaled, step);
    }
  }
}
