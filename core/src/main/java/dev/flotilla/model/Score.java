package dev.flotilla.model;

/**
 * Right answers of a classifier.
 *
 * @param top1 samples whose best guess is right
 * @param top5 samples whose five best guesses hold the right one
 * @param total samples asked; 0 when the objective has no such notion
 */
public record Score(long top1, long top5, long total) {

  /** The score of objectives that have none. */
  public static final Score NONE = new Score(0, 0, 0);

  /** Returns the sum of both. */
  public Score plus(Score other) {
    return new Score(top1 + other.top1, top5 + other.top5, total + other.total);
  }

  /** Returns the fraction of right best guesses, or NaN without samples. */
  public double acc1() {
    return total == 0 ? Double.NaN : (double) top1 / total;
  }

  /** Returns the fraction of right answers among five guesses, or NaN without samples. */
  public double acc5() {
    return total == 0 ? Double.NaN : (double) top5 / total;
  }
}
