package dev.flotilla.config;

import dev.flotilla.config.BatchFit.Trial;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Searches for the largest batch that fits, with few trials.
 *
 * <p>Two small batches tell what a sample takes; from then on each trial is where a straight line
 * through the last two that fitted meets the limit, and never outside what is known to fit and not
 * to fit.
 */
final class BatchSearch {

  static final int MOST_TRIALS = 12;

  private static final double CLOSE_ENOUGH = 0.01;
  private static final int FAR = 8;
  private static final int UNKNOWN = 1 << 20;

  private final long limit;
  private final IntFunction<Trial> attempt;
  private final List<Trial> fitting = new ArrayList<>();
  private int fits;
  private int fails = UNKNOWN;

  /**
   * Prepares a search.
   *
   * @param limit bytes that may be taken
   * @param attempt tries a batch
   */
  BatchSearch(long limit, IntFunction<Trial> attempt) {
    this.limit = limit;
    this.attempt = attempt;
  }

  /** Returns the largest batch found to fit; 0 if none does. */
  int run() {
    int next = 1;
    for (int i = 0; i < MOST_TRIALS && next > fits && next < fails; i++) {
      var trial = attempt.apply(next);
      if (trial.fits()) {
        fits = next;
        fitting.add(trial);
      } else {
        fails = next;
      }
      next = next();
    }
    return fits;
  }

  /** Returns what to try next, or something known already when there is no point in going on. */
  private int next() {
    if (fitting.size() < 2) {
      return fits == 0 ? 0 : fits + 1;
    }
    var last = fitting.getLast();
    boolean isFull = last.peakBytes() >= (1 - CLOSE_ENOUGH) * limit;
    if (isFull || fails - fits <= Math.max(1, CLOSE_ENOUGH * fits)) {
      return fits;
    }
    int guess = guess(fitting.get(fitting.size() - 2), last);
    boolean isBetween = guess > fits && guess < fails;
    return isBetween ? guess : fails == UNKNOWN ? fits + 1 : (fits + fails) / 2;
  }

  /** A line through two small batches says little about one a hundred times larger. */
  private int guess(Trial before, Trial last) {
    double perSample =
        (double) (last.peakBytes() - before.peakBytes()) / (last.batch() - before.batch());
    double most = FAR * (double) fits;
    return (int)
        (perSample <= 0 ? most : Math.min(most, fits + (limit - last.peakBytes()) / perSample));
  }
}
