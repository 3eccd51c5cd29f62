package dev.flotilla.step;

import dev.flotilla.pass.RunningStatistics;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;
import java.util.function.Supplier;

/** A second set of weights that follows the parameters from update to update. */
public interface MovingAverage extends Stateful, AutoCloseable {

  /** No second set. */
  MovingAverage NONE =
      new MovingAverage() {
        @Override
        public void follow(Sync sync, RunningStatistics statistics) {}

        @Override
        public void afterUpdate(long updates) {}

        @Override
        public boolean hasBegun() {
          return false;
        }

        @Override
        public <T> T whileInPlace(Supplier<T> action) {
          return action.get();
        }

        @Override
        public void remember(RunState state) {}
      };

  /** Says what it follows, once, before the first window. */
  void follow(Sync sync, RunningStatistics statistics);

  /** Says how many updates the run will make. */
  default void plannedUpdates(long updates) {}

  /**
   * Called by all ranks after every update and what ranks do together after it.
   *
   * @param updates updates made, this one included
   */
  void afterUpdate(long updates);

  /** Tells whether it holds weights of its own by now; until then it is the parameters. */
  boolean hasBegun();

  /**
   * Runs an action with its weights in place of the parameters, which come back afterwards; all
   * ranks call it together.
   */
  <T> T whileInPlace(Supplier<T> action);

  @Override
  default void close() {}
}
