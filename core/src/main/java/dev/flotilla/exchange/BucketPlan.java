package dev.flotilla.exchange;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import dev.flotilla.state.RunState;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Cuts the gradient arena into buckets, in the order in which they are reduced. */
public interface BucketPlan {

  /** Returns buckets that cover the arena without overlap, the same on all ranks. */
  List<Bucket> buckets();

  /** Tells whether a bucket may be reduced while backward still fills the others. */
  default boolean overlapsBackward() {
    return false;
  }

  /**
   * Returns what the user should know of a run that begins with so many collectives per window;
   * nothing by default.
   *
   * @param collectives what they are, in the plural
   */
  default Optional<String> announcement(int gradients, int buckets, String collectives) {
    return Optional.empty();
  }

  /** Hears what a window took; all ranks call it after every exchange. */
  default void observed(ExchangeTimes times) {}

  /** Saves, or restores, what it has found out; nothing by default. */
  default void remember(RunState state) {}

  /** Returns what the run's summary should say; nothing by default. */
  default Map<String, Object> metrics() {
    return Map.of();
  }

  /** Returns the plan of one bucket for the whole arena, after backward. */
  static BucketPlan whole(Layout layout) {
    var all = Bucket.of(layout, List.of(new Bucket.Range(0, layout.length())));
    return () -> all;
  }
}
