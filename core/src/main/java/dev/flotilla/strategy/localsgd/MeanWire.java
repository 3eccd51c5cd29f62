package dev.flotilla.strategy.localsgd;

import dev.flotilla.state.RunState;
import org.bytedeco.pytorch.Tensor;

/** Replaces a vector by its mean over all replicas, the same to the bit on all ranks. */
interface MeanWire extends AutoCloseable {

  /** Begins; the vector must stay as it is until the end. */
  void start(Tensor vector);

  /** Tells whether a vector may come piece by piece, each of them finished by itself. */
  default boolean takesPieces() {
    return false;
  }

  /** Waits for the mean of the piece that was started first. */
  default void finishFirst() {
    finish();
  }

  /** Does what can follow once the first half has arrived; all ranks call it together. */
  default void advance() {}

  /** Waits for the mean; does nothing if nothing is under way. */
  void finish();

  /** Puts down, or takes up, what it remembers; nothing may be under way. */
  default void remember(RunState state) {}

  @Override
  default void close() {}
}
