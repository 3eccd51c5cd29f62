package dev.flotilla.step;

import dev.flotilla.arena.Totals;
import dev.flotilla.exchange.GradientView;
import dev.flotilla.pass.MicroStep;
import dev.flotilla.state.RunState;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Changes or judges the gradients of a window, before or after the exchange. */
@FunctionalInterface
public interface GradientFilter {

  /**
   * Works on the gradients in place and tells whether the update goes on; all ranks say the same.
   */
  boolean apply(GradientView gradients, MicroStep step);

  /** Applies filters one after the other, up to the first that ends the update. */
  static boolean all(List<GradientFilter> filters, GradientView gradients, MicroStep step) {
    for (var filter : filters) {
      if (!filter.apply(gradients, step)) {
        return false;
      }
    }
    return true;
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

  /**
   * A filter that can do without knowing whether the gradients are finite: the device leaves the
   * update out if they are not, and the filter hears of it later.
   */
  interface Late extends GradientFilter {

    /** Returns one that works on the gradients, and has nothing against the update. */
    static Late of(Consumer<GradientView> work) {
      return new Late() {
        @Override
        public boolean apply(GradientView gradients, MicroStep step) {
          work.accept(gradients);
          return true;
        }

        @Override
        public void applyUnjudged(GradientView gradients, MicroStep step) {
          work.accept(gradients);
        }
      };
    }

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
}
