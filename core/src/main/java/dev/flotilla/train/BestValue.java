package dev.flotilla.train;

import dev.flotilla.checkpoint.Position;
import dev.flotilla.state.State;

/** The best value that evaluations have given so far, and how many came after it. */
final class BestValue {

  private boolean isKnown;
  private double value;
  private long updates;
  private long microSteps;
  private long since;

  void forget() {
    isKnown = false;
    value = 0;
    updates = 0;
    microSteps = 0;
    since = 0;
  }

  /**
   * Looks at the value of an evaluation; one that is not a number is never better.
   *
   * @param minDelta by how much it must be better
   * @return whether it is the best so far
   */
  boolean see(double next, boolean higherIsBetter, double minDelta, Position position) {
    double gain = higherIsBetter ? next - value : value - next;
    boolean isBetter = !Double.isNaN(next) && (!isKnown || gain > minDelta);
    if (!isBetter) {
      since++;
      return false;
    }
    isKnown = true;
    value = next;
    updates = position.updates();
    microSteps = position.microSteps();
    since = 0;
    return true;
  }

  /** Forgets how many evaluations came after it. */
  void countAnew() {
    since = 0;
  }

  boolean isKnown() {
    return isKnown;
  }

  double value() {
    return value;
  }

  /** Returns where it was seen. */
  Position position() {
    return new Position(updates, microSteps);
  }

  /** Returns how many evaluations came after it. */
  long since() {
    return since;
  }

  /** Puts itself down, or takes up what was saved; earlier versions did not save it. */
  void remember(State state) {
    if (!state.has("known")) {
      forget();
      return;
    }
    isKnown = state.number("known", isKnown ? 1 : 0) == 1;
    value = state.real("value", value);
    updates = state.number("updates", updates);
    microSteps = state.number("micro_steps", microSteps);
    since = state.number("since", since);
  }
}
