package dev.flotilla.metric;

import dev.flotilla.settings.Summary;

/** The mean over all numbers of the squared difference between outputs and targets. */
@Summary("Mean of squared differences.")
public record MeanSquaredError() implements MeanError {

  @Override
  public String name() {
    return "mse";
  }

  @Override
  public double error(double output, double target) {
    return (output - target) * (output - target);
  }
}
