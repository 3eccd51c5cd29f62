package dev.flotilla.metric;

import dev.flotilla.model.Task;

/** A metric of a regression that is a mean over all numbers of how far outputs are off. */
public interface MeanError extends Metric {

  /** Returns the error of one number. */
  double error(double output, double target);

  @Override
  default boolean higherIsBetter() {
    return false;
  }

  @Override
  default boolean suits(Task task) {
    return task != Task.CLASSIFICATION;
  }

  @Override
  default Tally start() {
    return new MeanOf.Mean(answers -> Pairs.of(answers).map(this::error));
  }
}
