package dev.flotilla.launch;

import dev.flotilla.world.ExitCodes;
import java.time.Duration;
import java.util.Set;

/**
 * Decides whether a failed job is started again, and when.
 *
 * <p>Each restart waits twice as long as the one before, from one second up to a minute. A job that
 * fails three times without getting past the same update is not started again: it would fail there
 * for ever.
 */
final class RestartPolicy {

  private static final Duration LONGEST_DELAY = Duration.ofMinutes(1);
  private static final int MOST_DOUBLINGS = 6;
  private static final int FAILURES_WITHOUT_PROGRESS = 3;
  private static final Set<Integer> IN_VAIN = Set.of(ExitCodes.USAGE, ExitCodes.PLAN_REJECTED);

  /**
   * What follows a failure.
   *
   * @param restarts whether the job is started again
   * @param delay when
   * @param reason what to say about it; empty when there is nothing to say
   */
  record Decision(boolean restarts, Duration delay, String reason) {

    static Decision giveUp(String reason) {
      return new Decision(false, Duration.ZERO, reason);
    }
  }

  private final int most;
  private int restarts;
  private long furthest = -1;
  private int failuresThere;

  RestartPolicy(int most) {
    this.most = most;
  }

  /**
   * Decides after a failure.
   *
   * @param exitCode exit code of the job
   * @param updates updates that the furthest rank had made
   */
  Decision after(int exitCode, long updates) {
    note(updates);
    if (most == 0) {
      return Decision.giveUp("");
    }
    if (IN_VAIN.contains(exitCode)) {
      return Decision.giveUp(
          "not restarted, as it would fail again: " + ExitCodes.describe(exitCode));
    }
    if (failuresThere == FAILURES_WITHOUT_PROGRESS) {
      return Decision.giveUp(
          "not restarted: the job failed three times without getting past update " + furthest);
    }
    if (restarts == most) {
      return Decision.giveUp("not restarted: all %d restarts are used up".formatted(most));
    }
    return restart();
  }

  private void note(long updates) {
    if (updates > furthest) {
      furthest = updates;
      failuresThere = 0;
    }
    failuresThere++;
  }

  private Decision restart() {
    Duration delay = Duration.ofSeconds(1L << Math.min(restarts, MOST_DOUBLINGS));
    Duration limited = delay.compareTo(LONGEST_DELAY) > 0 ? LONGEST_DELAY : delay;
    restarts++;
    return new Decision(
        true, limited, "restart %d of %d in %d s".formatted(restarts, most, limited.toSeconds()));
  }
}
