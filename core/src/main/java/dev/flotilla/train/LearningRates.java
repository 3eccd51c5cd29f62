package dev.flotilla.train;

import java.util.List;
import java.util.OptionalDouble;

/**
 * What {@link Trainer#findLearningRate} saw.
 *
 * <p>The loss is smoothed as s = β s + (1 − β) loss with β = 0.9, divided by 1 − β^i after i
 * updates (Smith, <a href="https://arxiv.org/abs/1506.01186">arXiv:1506.01186</a>; smoothing and
 * the end at four times the lowest loss as in fastai).
 *
 * @param points one for each update, in order
 * @param hasDiverged whether the search ended before its highest rate: the smoothed loss was more
 *     than four times its lowest, or not finite
 */
public record LearningRates(List<Point> points, boolean hasDiverged) {

  /**
   * An update.
   *
   * @param rate its learning rate
   * @param loss mean loss of its batch over all ranks, before it
   * @param smoothed the loss without most of its noise
   */
  public record Point(double rate, double loss, double smoothed) {}

  /** Copies the points. */
  public LearningRates {
    points = List.copyOf(points);
  }

  /**
   * Returns the rate at which the smoothed loss falls fastest, before its lowest point: the one to
   * begin with. Empty where the loss does not fall.
   */
  public OptionalDouble suggested() {
    int lowest = lowestIndex();
    int best = -1;
    double fall = 0;
    for (int i = 1; i < lowest; i++) {
      double change = points.get(i + 1).smoothed() - points.get(i - 1).smoothed();
      if (change < fall) {
        fall = change;
        best = i;
      }
    }
    return best < 0 ? OptionalDouble.empty() : OptionalDouble.of(points.get(best).rate());
  }

  /**
   * Returns a tenth of the rate with the lowest smoothed loss, which is another rule of thumb.
   * Empty where the loss does not fall.
   */
  public OptionalDouble tenthOfLowest() {
    int lowest = lowestIndex();
    return lowest < 1 ? OptionalDouble.empty() : OptionalDouble.of(points.get(lowest).rate() / 10);
  }

  private int lowestIndex() {
    int lowest = -1;
    for (int i = 0; i < points.size(); i++) {
      if (lowest < 0 || points.get(i).smoothed() < points.get(lowest).smoothed()) {
        lowest = i;
      }
    }
    return lowest;
  }
}
