package dev.flotilla.engine;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.state.RunState;
import java.util.List;

/** Shares the gradients of a window among ranks. */
@FunctionalInterface
public interface Exchange {

  /**
   * Replaces the local gradient sums by shared ones.
   *
   * @return the totals that the gradients are now the sum of; their count is the divisor
   */
  Totals exchange(Gradients gradients, List<Bucket> buckets);

  /**
   * Returns the ranks that hold the same gradients after the exchange; by default all of them.
   *
   * @param all the group of all ranks
   */
  default Collective peers(Collective all) {
    return all;
  }

  /** Returns the dense exchange among the ranks of a group. */
  static Exchange dense(Collective group) {
    return new DenseExchange(group);
  }

  /** Puts down, or takes up, what it remembers from one window to the next; nothing by default. */
  default void remember(RunState state) {}
}
