package dev.flotilla.step;

import dev.flotilla.state.RunState;
import dev.flotilla.state.State;
import java.util.List;

/**
 * The state of a run whose ranks differ: what would be equal on all of them is each rank's own.
 *
 * <p>Another number of ranks cannot take it up, and starts such state anew.
 *
 * @param state the state of the run
 */
public record OwnReplica(RunState state) implements RunState {

  @Override
  public boolean isSaving() {
    return state.isSaving();
  }

  @Override
  public State weights() {
    return state.weights();
  }

  @Override
  public State movingAverage() {
    return state.movingAverage();
  }

  @Override
  public State shared() {
    return state.own().part("replica");
  }

  @Override
  public State sliced() {
    return shared();
  }

  @Override
  public State own() {
    return state.own();
  }

  @Override
  public List<State> dealt() {
    return state.dealt();
  }

  @Override
  public State leader() {
    return state.leader();
  }

  @Override
  public State summed() {
    return state.summed();
  }
}
