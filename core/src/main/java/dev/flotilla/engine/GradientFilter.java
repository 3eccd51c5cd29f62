package dev.flotilla.engine;

import dev.flotilla.arena.Gradients;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;

/** Changes or judges the gradients of a window, before or after the exchange. */
@FunctionalInterface
public interface GradientFilter extends Stateful {

  /**
   * Works on the gradients in place and tells whether the update goes on; all ranks say the same.
   */
  boolean apply(Gradients gradients, MicroStep step);

  /** Puts down, or takes up, what it remembers from one window to the next; nothing by default. */
  @Override
  default void remember(RunState state) {}
}
