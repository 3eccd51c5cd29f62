package dev.flotilla.verify;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Model;
import dev.flotilla.pass.Accumulation.Decision;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.pass.SegmentChain;
import java.util.Optional;
import org.bytedeco.pytorch.Scalar;

/** A training loop as people write it by hand: mean losses, a divisor, an own boundary, SGD. */
final class HandLoop implements Loop {

  /** Tells from the number of the batch in its epoch whether an update follows. */
  @FunctionalInterface
  interface Boundary {
    boolean isAfter(int indexInEpoch, boolean lastOfEpoch);
  }

  private final BoundModel model;
  private final SegmentChain chain;
  private final Boundary boundary;
  private final double divisor;
  private final double lr;
  private int epoch;
  private int indexInEpoch;
  private boolean gradientsAreBound;

  HandLoop(Model model, Precision precision, Boundary boundary, double divisor, double lr) {
    this.model = new BoundModel(model, precision, 42, _ -> false);
    this.chain = new SegmentChain(this.model, 42, 0);
    this.boundary = boundary;
    this.divisor = divisor;
    this.lr = lr;
  }

  @Override
  public BoundModel model() {
    return model;
  }

  @Override
  public Optional<double[]> step(Batch batch, MicroBatch place) {
    indexInEpoch = place.epoch() == epoch ? indexInEpoch : 0;
    epoch = place.epoch();
    backward(batch, place);
    if (!boundary.isAfter(indexInEpoch++, place.isLastOfEpoch())) {
      return Optional.empty();
    }
    var gradients = model.arena().gradients();
    double[] used = FlatCopy.of(gradients.values());
    gradients.scale(-lr);
    model.arena().values().add_(gradients.values());
    gradients.clear();
    return Optional.of(used);
  }

  private void backward(Batch batch, MicroBatch place) {
    try (var _ = TensorScope.open()) {
      var step = new MicroStep(place.index(), 0, 0, Decision.CONTINUE);
      var terms = chain.forward(batch, step);
      var mean = terms.sum().div(new Scalar(terms.count() * divisor));
      var loss = new LossTerms(mean, 1);
      if (gradientsAreBound) {
        chain.backward(loss, step);
      } else {
        model.arena().leaves().bindAfter(() -> chain.backward(loss, step));
        gradientsAreBound = true;
      }
    }
  }

  @Override
  public void close() {
    chain.close();
    model.close();
  }
}
