package dev.flotilla.strategy.compress;

import dev.flotilla.state.RunState;
import dev.flotilla.step.Update;

/**
 * Moves the parameters against the reduced gradient; owns what the exchange keeps, which remembers
 * it.
 */
record CompressedUpdate(Compression compression) implements Update {

  @Override
  public void apply(double lr) {
    compression.update(lr);
  }

  @Override
  public void remember(RunState state) {}

  @Override
  public void close() {
    compression.close();
  }
}
