package dev.flotilla.step;

import dev.flotilla.arena.Bucket.Range;
import dev.flotilla.arena.Layout;
import dev.flotilla.state.RunState;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** What ranks do together after an update, such as averaging parameters now and then. */
@FunctionalInterface
public interface Sync extends AutoCloseable {

  /** Nothing. */
  Sync NONE = _ -> {};

  /** Called by all ranks after every window, also one whose update was skipped. */
  void afterWindow(StepOutcome window);

  /** Says whose update it follows, once, before the first window. */
  default void follow(Update update) {}

  /** Tells whether ranks hold parameters of their own at times; by default they never do. */
  default boolean letsRanksDiffer() {
    return false;
  }

  /**
   * Tells whether ranks that may differ have met after the last window; by default they never do.
   */
  default boolean isRound() {
    return false;
  }

  /**
   * Tells whether now, after so many updates, is the time to compare the parameters of all ranks,
   * which is to happen once in so many.
   */
  default boolean comparesAfter(long updates, long every) {
    return updates % every == 0;
  }

  /**
   * Runs an action with the average of all ranks' parameters in place of this rank's own, which
   * come back afterwards; all ranks call it together.
   */
  default <T> T whileAveraged(Supplier<T> action) {
    return action.get();
  }

  /**
   * Runs what needs the parameters of one segment at a time, such as forward passes, as many on
   * each rank, as {@link #whileAveraged} would; they need not all be there at once.
   */
  default <T> T whileEvaluated(Supplier<T> passes) {
    return whileAveraged(passes);
  }

  /**
   * Tells whether ranks that hold the same parameters each update slices; by default all do all.
   */
  default boolean sharesOut() {
    return false;
  }

  /** Returns the parts of the arena that this rank updates, none of them empty; by default all. */
  default List<Range> updated(Layout layout) {
    return layout.length() == 0 ? List.of() : List.of(new Range(0, layout.length()));
  }

  /**
   * Changes the parts that this rank updates otherwise than by an update; ranks that hold the same
   * parameters get them as they get what an update has changed. All ranks call it together.
   */
  default void change(Runnable change) {
    change.run();
  }

  /**
   * Runs an action with other values in place of the parameters; they are gathered or averaged over
   * ranks as parameters would be. All ranks call it together.
   *
   * @param swap exchanges them with the parts that this rank updates; called again afterwards
   */
  default <T> T whileReplaced(Runnable swap, Supplier<T> action) {
    swap.run();
    T result = action.get();
    swap.run();
    return result;
  }

  /** Gives all ranks the average of their parameters for good; all ranks call it together. */
  default void average() {}

  /** Ends training: parameters that differ are averaged for good. All ranks call it together. */
  default void end() {
    average();
  }

  /** Returns what the run's summary should say; nothing by default. */
  default Map<String, Object> metrics() {
    return Map.of();
  }

  /** Puts down, or takes up, what it remembers from one window to the next; nothing by default. */
  default void remember(RunState state) {}

  @Override
  default void close() {}
}
