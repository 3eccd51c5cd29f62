package dev.flotilla.train;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.settings.Check;
import dev.flotilla.step.StepOutcome;
import java.util.Optional;

/**
 * Counts micro-batches for a loop of the user's own, and updates after every k-th.
 *
 * <p>Averages over the terms of the accumulation window, whatever the micro-batches hold. The count
 * is the window's own, so that a trainer which was saved in the middle of one goes on with it.
 */
public final class AccumulatingStep {

  private final OwnLoop loop;
  private final int k;

  AccumulatingStep(OwnLoop loop, int k) {
    Check.that(k >= 1, "k", "must be at least 1", k).orThrow();
    this.loop = loop;
    this.k = k;
  }

  /** Takes a micro-batch; returns what the update did if it was the k-th. */
  public Optional<StepOutcome> add(Batch microBatch) {
    loop.forwardBackward(microBatch);
    return loop.waiting() < k ? Optional.empty() : Optional.of(flush());
  }

  /** Updates with what the window holds now, which may be fewer than k micro-batches. */
  public StepOutcome flush() {
    return loop.update();
  }

  /** Takes one large batch in k parts, the last one ragged, and updates once. */
  public StepOutcome run(Batch largeBatch) {
    if (loop.waiting() > 0) {
      throw new IllegalStateException(
          loop.waiting() + " micro-batches are waiting: call flush before a large batch");
    }
    try (var _ = TensorScope.open()) {
      largeBatch.split(k).forEach(loop::forwardBackward);
    }
    return loop.update();
  }
}
