package dev.flotilla.app.advise;

import dev.flotilla.config.StepTrial;

/**
 * What a combination would take.
 *
 * @param combination which
 * @param trial what was measured without a link
 * @param seconds of an update
 * @param ranks that share the work
 */
public record Prediction(
    Combination combination, StepTrial.Result trial, double seconds, int ranks) {

  /** Predicts over a link. */
  public static Prediction of(
      Combination combination, StepTrial.Result trial, LinkRate link, int ranks) {
    double seconds =
        ranks == 1 ? trial.seconds() : StepModel.seconds(trial, link, combination.overlap());
    return new Prediction(combination, trial, seconds, ranks);
  }

  /** Returns the samples of an update over all ranks. */
  public long samples() {
    return (long) trial.samples() * trial.microSteps() * ranks;
  }

  /** Returns the seconds per sample. */
  public double perSample() {
    return seconds / samples();
  }

  /** Returns the bytes that a rank sends for an update. */
  public double sentBytes() {
    var sent = trial.sent();
    return sent.reduced() + sent.gathered() + sent.scattered();
  }
}
