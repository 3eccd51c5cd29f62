package dev.flotilla.strategy.localsgd;

import dev.flotilla.state.RunState;
import org.bytedeco.pytorch.Tensor;

/** Replaces a vector by its mean over all replicas, the same to the bit on all ranks. */
interface MeanWire extends AutoCloseable {

  /** Begins; the vector must stay as it is until the end. */
  void start(Tensor vector);

  /** Does what can follow once the first half has arrived; all ranks call it together. */
  default void advance() {}

  /** Waits for the mean; does nothing if nothing is under way. */
  void finish();

  /** Puts down, or takes up, what it remembers; nothing may be under way. */
  default void remember(RunState state) {}

  @Override
  default void close() {}
}
