package dev.flotilla.metric;

import dev.flotilla.model.Answers;
import java.util.List;

/**
 * Counts for a metric on one rank, and merges with the tallies of the others.
 *
 * <p>After each has seen its own samples, a new tally merges the states of all ranks in their
 * order, so that every rank gets the same value.
 */
public interface Tally {

  /** Adds the answers of a batch; what it makes of the tensors belongs to the caller's scope. */
  void update(Answers answers);

  /** Returns everything that was counted, for other ranks; nothing where nothing was. */
  double[] state();

  /** Adds what another tally of the same metric has counted; it is never empty. */
  void merge(double[] state);

  /** Returns the value over everything that was counted; NaN where it is not defined. */
  double value();

  /** Returns counts that people want to see beside the value, by rows; empty for most. */
  default List<List<Long>> table() {
    return List.of();
  }
}
