package dev.flotilla.step;

import dev.flotilla.arena.Gradients;

/**
 * Tells all ranks that one of them has something to say. It rides on the gradients of a window, so
 * that asking costs nothing.
 */
final class RankSignal {

  private final Gradients gradients;
  private final int ranks;
  private final Runnable heard;

  /**
   * Creates the signal of a rank.
   *
   * @param ranks how many ranks exchange gradients
   * @param heard called on all ranks in one window, once one of them has raised it
   */
  RankSignal(Gradients gradients, int ranks, Runnable heard) {
    this.gradients = gradients;
    this.ranks = ranks;
    this.heard = heard;
  }

  /** Says whether this rank has something to say, from the next exchange on. */
  void raise(boolean isRaised) {
    if (isRaised) {
      gradients.raise(ranks);
    } else {
      gradients.lower();
    }
  }

  /** Calls who waits for it, if a rank had something to say in the window that was exchanged. */
  void hear() {
    if (ranks == 1 ? gradients.isRaised() : gradients.isRaisedByAny()) {
      gradients.lower();
      heard.run();
    }
  }
}
