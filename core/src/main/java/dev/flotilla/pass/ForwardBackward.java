package dev.flotilla.pass;

import dev.flotilla.data.Batch;
import dev.flotilla.model.LossTerms;
import java.util.List;

/**
 * Runs a model forward to its loss, and backward into the gradients.
 *
 * <p>It takes the batches that must go forward together: one, or all of an accumulation window, or
 * none on a rank that has no samples while others wait for its statistics.
 */
public interface ForwardBackward {

  /** Runs forward; returns the loss of each batch, which belongs to the caller's scope. */
  List<LossTerms> forward(List<Batch> batches, MicroStep step);

  /** Adds the gradients of the loss sums to the gradients. */
  void backward(List<LossTerms> losses, MicroStep step);

  /**
   * Tells whether a pass does the same with each batch of a form, but for numbers on the device and
   * the seeds of its parts, so that it may be recorded. Not by default: it may count in the host.
   */
  default boolean isRepeated() {
    return false;
  }

  /** Wraps a pass in another; precision outside, recompute inside. */
  @FunctionalInterface
  interface Layer {

    /** Returns the pass around an inner one. */
    ForwardBackward around(ForwardBackward inner);
  }
}
