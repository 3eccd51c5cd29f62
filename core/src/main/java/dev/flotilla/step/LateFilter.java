package dev.flotilla.step;

import dev.flotilla.arena.Totals;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.pass.MicroStep;

/**
 * A filter that can do without knowing whether the gradients are finite: the device leaves the
 * update out if they are not, and the filter hears of it later.
 */
public interface LateFilter extends GradientFilter {

  /** Works on the gradients in place as {@link #apply} does, and waits for nothing. */
  void applyUnjudged(GradientView gradients, MicroStep step);

  /**
   * Hears, before the next backward begins, what the device has found; what it would have done in
   * {@link #apply} it does now.
   *
   * @param isFinite whether the loss and all gradients are finite, so that the update was made
   */
  default void judged(Totals totals, boolean isFinite) {}
}
