package dev.flotilla.engine;

import dev.flotilla.arena.Gradients;

/** Changes or judges the gradients of a window, before or after the exchange. */
@FunctionalInterface
public interface GradientFilter {

  /**
   * Works on the gradients in place and tells whether the update goes on; all ranks say the same.
   */
  boolean apply(Gradients gradients, MicroStep step);
}
