package dev.flotilla.step;

import dev.flotilla.exchange.GradientView;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.state.RunState;
import java.util.List;
import java.util.Map;

/** Changes or judges the gradients of a window, before or after the exchange. */
@FunctionalInterface
public interface GradientFilter {

  /**
   * Works on the gradients in place and tells whether the update goes on; all ranks say the same.
   */
  boolean apply(GradientView gradients, MicroStep step);

  /** Applies filters one after the other, up to the first that ends the update. */
  static boolean all(List<GradientFilter> filters, GradientView gradients, MicroStep step) {
    return filters.stream().allMatch(filter -> filter.apply(gradients, step));
  }

  /**
   * Tells whether it has something to do in the window to come, the same on all ranks; if so, a
   * filter before the exchange keeps buckets from leaving while backward goes on. Where gradients
   * leave after each micro-step, it then works on those of one.
   */
  default boolean isDue() {
    return true;
  }

  /** Saves, or restores, what it remembers from one window to the next; nothing by default. */
  default void remember(RunState state) {}

  /** Returns what the run's summary should say; nothing by default. */
  default Map<String, Object> metrics() {
    return Map.of();
  }
}
