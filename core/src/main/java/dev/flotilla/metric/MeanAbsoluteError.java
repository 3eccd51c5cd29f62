package dev.flotilla.metric;

import dev.flotilla.settings.Summary;

/** The mean over all numbers of the absolute difference between outputs and targets. */
@Summary("Mean of absolute differences.")
public record MeanAbsoluteError() implements MeanError {

  @Override
  public String name() {
    return "mae";
  }

  @Override
  public double error(double output, double target) {
    return Math.abs(output - target);
  }
}
