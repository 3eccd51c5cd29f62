package dev.flotilla.app;

import java.util.List;

/**
 * What a launched rank runs: training without the command line's error handling, so that the
 * launcher learns of every failure.
 */
public final class RankTraining {

  private RankTraining() {}

  /** Trains the recipe given by the arguments of {@code flotilla train}. */
  public static void main(String[] args) {
    TrainCommand.parse(List.of(args)).call();
  }
}
