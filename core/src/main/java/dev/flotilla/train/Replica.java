package dev.flotilla.train;

import dev.flotilla.engine.BoundModel;
import dev.flotilla.engine.Sync;
import dev.flotilla.state.RunState;
import dev.flotilla.state.Stateful;

/**
 * This rank's copy of the parameters in a checkpoint.
 *
 * <p>Where ranks differ, the average is published, and each rank's own parameters come on top; so
 * saving does not change the training, and another number of ranks goes on from the average.
 *
 * @param model the parameters
 * @param sync what lets them differ
 */
record Replica(BoundModel model, Sync sync) implements Stateful {

  @Override
  public void remember(RunState state) {
    if (!sync.letsRanksDiffer()) {
      model.remember(state);
    } else if (state.isSaving()) {
      rememberOwn(state);
      sync.whileAveraged(
          () -> {
            model.remember(state);
            return model;
          });
    } else {
      model.remember(state);
      rememberOwn(state);
    }
  }

  private void rememberOwn(RunState state) {
    state.own().tensor("replica/parameters", model.arena().values());
  }
}
