package dev.flotilla.exchange;

import dev.flotilla.arena.Gradients;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Slot;
import dev.flotilla.arena.Totals;

/**
 * The gradients of an accumulation window as a filter sees them: the mean over all ranks, or what
 * one rank adds to it where it keeps what it does not send.
 */
public interface GradientView {

  /** Returns the view of gradients that are the same on all ranks. */
  static GradientView of(Gradients gradients) {
    return new ReducedGradients(gradients);
  }

  /** Returns the view of what this rank has added up itself and not exchanged yet. */
  static GradientView unexchanged(ParameterArena arena) {
    return arena.gradients().kept().isPresent()
        ? new GradientsAtParameters(arena)
        : of(arena.gradients());
  }

  /** Returns the Euclidean norm of the gradients in view. */
  double norm();

  /**
   * Returns the norm that the gradients in view may have so that the mean over ranks has this norm
   * at most; for one rank's own gradients, what holds if those of ranks are unrelated.
   */
  double limit(double ofMean);

  /** Multiplies all gradients. */
  void scale(double by);

  /**
   * Brings each element of the gradients to the nearest number of at most this absolute value.
   *
   * @throws UnsupportedOperationException where they can only be scaled as a whole
   */
  void limitEach(double most);

  /** Tells whether no gradient is infinite or undefined, on any rank. */
  boolean isFinite();

  /** Makes all gradients of one parameter zero. */
  void clear(Slot slot);

  /** Tells whether all gradients of one parameter are zero, on every rank that holds any. */
  boolean isZero(Slot slot);

  /** Returns loss sum and count of the window, over all ranks. */
  Totals totals();

  /** Returns the sum of the loss, over all ranks. */
  double lossSum();
}
