package dev.flotilla.app;

import java.util.List;

/**
 * What a launched rank runs: evaluation without the command line's error handling, so that the
 * launcher learns of every failure.
 */
public final class RankEvaluation {

  private RankEvaluation() {}

  /** Evaluates what the arguments of {@code flotilla eval} name. */
  public static void main(String[] args) {
    EvalCommand.parse(List.of(args)).call();
  }
}
