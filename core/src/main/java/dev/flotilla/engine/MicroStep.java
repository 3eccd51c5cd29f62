package dev.flotilla.engine;

/**
 * The place of one forward and backward in the run; the only definition of "now update".
 *
 * @param index number of this micro-step in the run, from 0
 * @param inWindow number of this micro-step in its window, from 0
 * @param update number of updates made before it
 * @param isBoundary whether this micro-step ends its window, so that an exchange and an update
 *     follow
 */
public record MicroStep(long index, int inWindow, long update, boolean isBoundary) {

  static final MicroStep NONE = new MicroStep(-1, 0, 0, true);

  /** Returns the micro-step after this one. */
  MicroStep next(Accumulation accumulation, boolean lastOfEpoch, long updates) {
    int place = isBoundary ? 0 : inWindow + 1;
    boolean boundary = accumulation.endsWindow(place + 1, lastOfEpoch, updates);
    return new MicroStep(index + 1, place, updates, boundary);
  }
}
