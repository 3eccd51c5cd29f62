package dev.flotilla.engine;

import dev.flotilla.data.Batch;
import dev.flotilla.model.LossTerms;

/** Runs a model forward to its loss, and backward into the gradients. */
public interface ForwardBackward {

  /** Runs forward; what it returns belongs to the caller's scope. */
  LossTerms forward(Batch batch, MicroStep step);

  /** Adds the gradient of the loss sum to the gradients. */
  void backward(LossTerms loss, MicroStep step);

  /** Wraps a pass in another; precision outside, recompute inside. */
  @FunctionalInterface
  interface Layer {

    /** Returns the pass around an inner one. */
    ForwardBackward around(ForwardBackward inner);
  }
}
