package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Pending;
import dev.flotilla.state.RunState;
import java.util.Map;

/**
 * Shares the gradients of a window among ranks, bucket by bucket.
 *
 * <p>All steps run on one thread, which is not the one that trains when buckets are shared while
 * backward goes on. All ranks take them in the same order, so collectives match.
 */
public interface Exchange extends AutoCloseable {

  /** Returns the exchange that sums all gradients of a group of ranks. */
  static Exchange dense(Collective group) {
    return new DenseExchange(group);
  }

  /**
   * Tells whether what a rank does not send in this window stays with it. Gradients are then judged
   * and scaled before they are shared, not after, and leave only when backward has ended, unless it
   * {@link #sharesEarly}. All ranks say the same.
   */
  default boolean keepsResiduals() {
    return false;
  }

  /**
   * Hears, before the first window, that nothing stands between backward and an exchange that keeps
   * residuals: no filter judges or changes gradients, and the run ends with the first one that is
   * not finite.
   */
  default void mayShareEarly() {}

  /**
   * Tells whether an exchange that keeps residuals takes buckets in this window as backward
   * completes them: ranks agree on the totals before, and whether all was finite at the end. All
   * ranks say the same.
   */
  default boolean sharesEarly() {
    return false;
  }

  /**
   * Begins a window: this rank's totals are final, its gradients perhaps not yet. One that keeps
   * residuals shares the totals here, and lets ranks agree whether all gradients are finite.
   */
  default void begin(Gradients gradients) {}

  /**
   * Starts to share one bucket, whose gradients on this rank are final.
   *
   * @return what may be awaited on another thread while further buckets are started; it starts no
   *     collectives, as ranks would come to them in different orders
   */
  Pending share(Gradients gradients, Bucket bucket);

  /**
   * Ends a window, after all buckets have been awaited; what is still under way is done then.
   *
   * @return the totals that the gradients are now the sum of; their count is the divisor
   */
  default Totals end(Gradients gradients) {
    return gradients.totals();
  }

  /**
   * Returns the ranks that hold the same gradients after the exchange; by default all of them.
   *
   * @param all the group of all ranks
   */
  default Collective peers(Collective all) {
    return all;
  }

  /** Hears what a window took; called on all ranks when the window has been shared. */
  default void observed(ExchangeTimes times) {}

  /** Puts down, or takes up, what it remembers from one window to the next; nothing by default. */
  default void remember(RunState state) {}

  /** Returns what the run's summary should say; nothing by default. */
  default Map<String, Object> metrics() {
    return Map.of();
  }

  /** Frees what it holds; nothing by default. */
  @Override
  default void close() {}
}
