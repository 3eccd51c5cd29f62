package dev.flotilla.metric;

import dev.flotilla.model.Task;
import dev.flotilla.settings.Summary;

/** The mean over all numbers of the squared difference between outputs and targets. */
@Summary("Mean of squared differences.")
public record MeanSquaredError() implements Metric {

  @Override
  public String name() {
    return "mse";
  }

  @Override
  public boolean higherIsBetter() {
    return false;
  }

  @Override
  public boolean suits(Task task) {
    return task != Task.CLASSIFICATION;
  }

  @Override
  public Tally start() {
    return new MeanOf.Mean(
        answers -> Pairs.of(answers).map((given, right) -> (given - right) * (given - right)));
  }
}
