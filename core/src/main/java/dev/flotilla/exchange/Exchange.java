package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.Layout;
import dev.flotilla.arena.Totals;
import dev.flotilla.collective.Collective;
import dev.flotilla.state.RunState;
import dev.flotilla.wire.Dtype;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reduces the gradients of an accumulation window over ranks, bucket by bucket.
 *
 * <p>All steps run on one thread, which is not the one that trains when buckets are reduced while
 * backward goes on. All ranks take them in the same order, so collectives match.
 */
@FunctionalInterface
public interface Exchange extends AutoCloseable {

  /** Returns the exchange that sums all gradients of a group of ranks. */
  static Exchange dense(Collective group) {
    return new DenseExchange(group);
  }

  /** Returns the exchange that sums all gradients of a group, in numbers of a type on the wire. */
  static Exchange dense(Collective group, Dtype wire, Layout layout) {
    return wire == Dtype.FP32 ? dense(group) : new HalfExchange(group, wire, layout.length());
  }

  /**
   * Returns what lets a rank keep what it does not send, in the window to come; empty where
   * everything is sent. All ranks say the same.
   */
  default Optional<ErrorFeedback> feedback() {
    return Optional.empty();
  }

  /**
   * Begins a window: this rank's totals are final, its gradients perhaps not yet. With error
   * feedback, ranks have agreed on the totals.
   */
  default void begin(Gradients gradients) {}

  /**
   * Returns the collectives that reduce a bucket, each of which needs the result of the one before,
   * but for those that are {@link Stage#isIndependent independent}. They start when the bucket's
   * gradients are final on this rank, those of several buckets interleaved.
   */
  List<Stage> reduce(Gradients gradients, Bucket bucket);

  /**
   * Ends a window, after all buckets have been awaited; what is still under way is done then.
   *
   * @return the totals that the gradients are now the sum of; their count is the divisor
   */
  default Totals end(Gradients gradients) {
    return gradients.totals();
  }

  /** Hears what a window took; called on all ranks when the window has been reduced. */
  default void observed(ExchangeTimes times) {}

  /** Saves, or restores, what it remembers from one window to the next; nothing by default. */
  default void remember(RunState state) {}

  /** Returns what the run's summary should say; nothing by default. */
  default Map<String, Object> metrics() {
    return Map.of();
  }

  /** Frees what it holds; nothing by default. */
  @Override
  default void close() {}
}
