package dev.flotilla.step;

import dev.flotilla.state.Stateful;

/** Changes the parameters from the gradients of a window. */
public interface Update extends Stateful, AutoCloseable {

  /** Makes one update. */
  void apply(double lr);

  @Override
  void close();
}
