package dev.flotilla.app;

import java.util.List;

/**
 * What a launched rank runs: prediction without the command line's error handling, so that the
 * launcher learns of every failure.
 */
public final class RankPrediction {

  private RankPrediction() {}

  /** Predicts what the arguments of {@code flotilla predict} name. */
  public static void main(String[] args) {
    PredictCommand.parse(List.of(args)).call();
  }
}
