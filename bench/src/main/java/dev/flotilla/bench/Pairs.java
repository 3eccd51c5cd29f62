package dev.flotilla.bench;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Compares two single-threaded things by this thread's CPU time in interleaved rounds, since wall
 * time is mostly noise on a shared machine.
 */
final class Pairs {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /**
   * Ratios of paired rounds.
   *
   * @param ratios first over second, one per round, sorted
   * @param firstMillis median CPU time of a call of the first
   * @param secondMillis median CPU time of a call of the second
   */
  record Result(List<Double> ratios, double firstMillis, double secondMillis) {

    double median() {
      return ratios.get(ratios.size() / 2);
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%.3f ms / %.3f ms, median of paired ratios %.4f, quartiles %.4f to %.4f, %d rounds",
          firstMillis,
          secondMillis,
          median(),
          ratios.get(ratios.size() / 4),
          ratios.get(ratios.size() * 3 / 4),
          ratios.size());
    }
  }

  private Pairs() {}

  /** Runs rounds of calls of each in turn; which comes first alternates. */
  static Result compare(Runnable first, Runnable second, int rounds, int callsPerRound) {
    var ratios = new double[rounds];
    var a = new double[rounds];
    var b = new double[rounds];
    for (int round = 0; round < rounds; round++) {
      boolean firstLeads = round % 2 == 0;
      double lead = millis(firstLeads ? first : second, callsPerRound);
      double follow = millis(firstLeads ? second : first, callsPerRound);
      a[round] = firstLeads ? lead : follow;
      b[round] = firstLeads ? follow : lead;
      ratios[round] = a[round] / b[round];
    }
    Arrays.sort(ratios);
    Arrays.sort(a);
    Arrays.sort(b);
    return new Result(Arrays.stream(ratios).boxed().toList(), a[rounds / 2], b[rounds / 2]);
  }

  /** Returns this thread's CPU time of one call. */
  static double cpuMillis(Runnable body) {
    return millis(body, 1);
  }

  private static double millis(Runnable body, int calls) {
    long start = THREADS.getCurrentThreadCpuTime();
    for (int i = 0; i < calls; i++) {
      body.run();
    }
    return (THREADS.getCurrentThreadCpuTime() - start) / 1e6 / calls;
  }
}
