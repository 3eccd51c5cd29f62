package dev.flotilla.state;

import java.util.List;

/**
 * The state of a run in which all names begin with the same prefix, so that they cannot meet those
 * of other parts; the model's weights, and a moving average of them, keep their published names.
 *
 * @param whole the state of the run
 * @param prefix what names begin with
 */
public record RunStatePart(RunState whole, String prefix) implements RunState {

  @Override
  public boolean isSaving() {
    return whole.isSaving();
  }

  @Override
  public State weights() {
    return whole.weights();
  }

  @Override
  public State movingAverage() {
    return whole.movingAverage();
  }

  @Override
  public State shared() {
    return whole.shared().part(prefix);
  }

  @Override
  public State sliced() {
    return whole.sliced().part(prefix);
  }

  @Override
  public State slicedElsewhere() {
    return whole.slicedElsewhere().part(prefix);
  }

  @Override
  public State own() {
    return whole.own().part(prefix);
  }

  @Override
  public State leader() {
    return whole.leader().part(prefix);
  }

  @Override
  public List<State> dealt() {
    return whole.dealt().stream().map(state -> state.part(prefix)).toList();
  }

  @Override
  public State summed() {
    return whole.summed().part(prefix);
  }
}
