package dev.flotilla.strategy.localsgd;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where time has gone since this process was started: computing, or waiting at averages, and for
 * whom. The first average is left out, as the one before it is the start of the run.
 */
final class Waiting {

  private static final double WORTH_A_NAME = 0.1;

  private final int rank;
  private final double[] computing;
  private double blocked;
  private double forOthers;
  private boolean hasBegun;

  Waiting(int ranks, int rank) {
    this.rank = rank;
    this.computing = new double[ranks];
  }

  /** Takes note of a round: how long each rank has computed, and how long this one was held up. */
  void add(double[] seconds, double held) {
    if (!hasBegun) {
      hasBegun = true;
      return;
    }
    blocked += held;
    forOthers += Arrays.stream(seconds).max().orElse(0) - seconds[rank];
    for (int i = 0; i < seconds.length; i++) {
      computing[i] += seconds[i];
    }
  }

  /** Returns the ranks that have computed for a tenth longer than the fastest, over all rounds. */
  private List<Integer> slowRanks() {
    double fastest = Arrays.stream(computing).min().orElse(0);
    List<Integer> slow = new ArrayList<>();
    for (int i = 0; i < computing.length; i++) {
      if (computing[i] > (1 + WORTH_A_NAME) * fastest) {
        slow.add(i);
      }
    }
    return slow;
  }

  Map<String, Object> metrics() {
    Map<String, Object> metrics = new LinkedHashMap<>();
    metrics.put("computing_seconds", computing[rank]);
    metrics.put("blocked_seconds", blocked);
    metrics.put("for_slower_ranks_seconds", forOthers);
    metrics.put("waited_for", slowRanks());
    return metrics;
  }
}
