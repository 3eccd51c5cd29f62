package dev.flotilla.verify;

import dev.flotilla.arena.Gradients;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.LossTerms;
import dev.flotilla.pass.Accumulation.Decision;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.pass.SegmentChain;
import dev.flotilla.train.Trainer;

/** Single forward and backward passes of a model in float64, to look at what it does. */
final class Probe implements AutoCloseable {

  /** What one pass has given. */
  static final class Pass {
    private final double loss;
    private final long terms;
    private final double[] gradient;

    private Pass(double loss, long terms, double[] gradient) {
      this.loss = loss;
      this.terms = terms;
      this.gradient = gradient;
    }

    double loss() {
      return loss;
    }

    long terms() {
      return terms;
    }

    /** Returns the gradient of the loss sum, not divided. */
    double[] gradient() {
      return gradient;
    }
  }

  /**
   * A loss as its objective states it.
   *
   * @param sum the sum
   * @param terms the count
   */
  record Loss(double sum, long terms) {
    static Loss of(LossTerms terms) {
      return new Loss(terms.sum().item_double(), terms.count());
    }
  }

  /** Looks at the outputs of a forward. */
  @FunctionalInterface
  interface Look<T> {
    T at(Activations outputs, Batch batch);
  }

  private final Trainer trainer;
  private final SwitchedModel model;
  private final Dataset data;
  private final SegmentChain chain;
  private boolean gradientsAreBound;

  /** Takes over a trainer, for its model. */
  Probe(Trainer trainer, SwitchedModel model, Dataset data) {
    this.trainer = trainer;
    this.model = model;
    this.data = data;
    this.chain = new SegmentChain(trainer.model(), 0, 0);
  }

  BoundModel bound() {
    return trainer.model();
  }

  void setWeights(double[] weights) {
    FlatCopy.into(bound().arena().values(), weights);
  }

  /**
   * Runs forward and backward.
   *
   * @param draw chooses the random numbers
   */
  Pass pass(int[] samples, long draw) {
    try (var _ = TensorScope.open()) {
      var loss = chain.forward(data.load(samples), step(draw));
      backward(loss, step(draw));
      var gradients = bound().arena().gradients();
      return new Pass(loss.sum().item_double(), loss.count(), taken(gradients));
    }
  }

  private static double[] taken(Gradients gradients) {
    double[] copy = FlatCopy.of(gradients.values());
    gradients.clear();
    return copy;
  }

  private void backward(LossTerms loss, MicroStep step) {
    if (gradientsAreBound) {
      chain.backward(loss, step);
      return;
    }
    bound().arena().leaves().bindAfter(() -> chain.backward(loss, step));
    gradientsAreBound = true;
  }

  /** Runs forward and looks at the outputs; nothing native leaves the look. */
  <T> T outputs(int[] samples, Look<T> look) {
    try (var _ = TensorScope.open()) {
      var batch = data.load(samples);
      chain.forward(batch, step(0));
      return look.at(model.lastOutputs(), batch);
    }
  }

  Loss loss(Activations outputs, Batch batch) {
    return Loss.of(model.loss(outputs, batch));
  }

  Loss loss(Activations outputs, int[] samples) {
    return loss(outputs, data.load(samples));
  }

  private static MicroStep step(long draw) {
    return new MicroStep(draw, 0, 0, Decision.UPDATE);
  }

  @Override
  public void close() {
    chain.close();
    trainer.close();
  }
}
