package dev.flotilla.checkpoint;

import dev.flotilla.state.State;
import org.bytedeco.pytorch.Tensor;

/**
 * A state whose slices have a place of their own.
 *
 * @param state where everything else is
 * @param slices where slices are
 */
record SlicedState(State state, Slices slices) implements State {

  /** Saves slices, or overwrites them with the saved ones. */
  interface Slices {
    void slice(String name, long offset, Tensor live);
  }

  @Override
  public void slice(String name, long offset, Tensor live) {
    slices.slice(name, offset, live);
  }

  @Override
  public void tensor(String name, Tensor live) {
    state.tensor(name, live);
  }

  @Override
  public boolean has(String name) {
    return state.has(name);
  }

  @Override
  public void mayLeave(String part) {
    state.mayLeave(part);
  }

  @Override
  public long number(String name, long value) {
    return state.number(name, value);
  }

  @Override
  public double real(String name, double value) {
    return state.real(name, value);
  }

  @Override
  public String text(String name, String value) {
    return state.text(name, value);
  }
}
