package dev.flotilla.pass;

import dev.flotilla.pass.Accumulation.Decision;
import dev.flotilla.state.State;

/**
 * The place of one forward and backward in the run; the only definition of "now update".
 *
 * @param index number of this micro-step in the run, from 0
 * @param inWindow number of this micro-step in its window, from 0
 * @param update number of updates made before it
 * @param decision what follows it
 */
public record MicroStep(long index, int inWindow, long update, Decision decision) {

  public static final MicroStep NONE = new MicroStep(-1, 0, 0, Decision.UPDATE);

  /** Tells whether this micro-step ends its window, so that an exchange and an update follow. */
  public boolean isBoundary() {
    return decision == Decision.UPDATE;
  }

  /** Tells whether the next micro-step begins an accumulation window. */
  public boolean endsWindow() {
    return decision != Decision.CONTINUE;
  }

  /** Returns the micro-steps that an unfinished window holds; 0 where none is begun. */
  public int waiting() {
    return endsWindow() ? 0 : inWindow + 1;
  }

  /** Puts down, or takes up, a place in the run. */
  public MicroStep remembered(State state) {
    return new MicroStep(
        state.number("index", index),
        Math.toIntExact(state.number("in_window", inWindow)),
        state.number("update", update),
        Decision.valueOf(state.text("decision", decision.name())));
  }

  /** Returns this micro-step as the end of its window. */
  public MicroStep asBoundary() {
    return new MicroStep(index, inWindow, update, Decision.UPDATE);
  }

  /** Returns a micro-step of the same window, so many before this one. */
  public MicroStep before(int steps) {
    return steps == 0
        ? this
        : new MicroStep(index - steps, Math.max(0, inWindow - steps), update, Decision.CONTINUE);
  }

  /** Returns the micro-step after this one. */
  public MicroStep next(Accumulation accumulation, boolean lastOfEpoch, long updates) {
    int place = endsWindow() ? 0 : inWindow + 1;
    var decision = accumulation.after(place + 1, lastOfEpoch, updates);
    return new MicroStep(index + 1, place, updates, decision);
  }
}
