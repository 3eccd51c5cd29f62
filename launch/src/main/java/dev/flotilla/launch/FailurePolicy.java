package dev.flotilla.launch;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a launcher does about failures, hangs and requests to stop.
 *
 * @param maxRestarts how often all ranks are started again after a failure, 0 to 1000
 * @param stopGrace time for ranks to stop after a micro-step and save when asked to, 1 to 3600 s
 * @param hangTimeout silence after which a rank is taken for hung, 5 to 3600 s; zero for never
 * @param jobKey file with the key that the launchers of several hosts share
 * @param insecure whether several hosts may do without one
 * @param checksCollectives whether ranks compare each collective before they carry it out, not only
 *     the first ones
 * @param secure how what goes between hosts is encrypted; empty for not at all
 */
public record FailurePolicy(
    int maxRestarts,
    Duration stopGrace,
    Duration hangTimeout,
    Optional<Path> jobKey,
    boolean insecure,
    boolean checksCollectives,
    Optional<SecureMode> secure) {

  static final int MOST_RESTARTS = 1000;
  static final int LONGEST_SECONDS = 3600;
  static final int SHORTEST_HANG_SECONDS = 5;

  /**
   * Checks the values.
   *
   * @throws LaunchException with every problem
   */
  public FailurePolicy {
    var problems = new ArrayList<String>();
    if (maxRestarts < 0 || maxRestarts > MOST_RESTARTS) {
      problems.add("the number of restarts must be in [0, 1000], but was " + maxRestarts);
    }
    if (stopGrace.toSeconds() < 1 || stopGrace.toSeconds() > LONGEST_SECONDS) {
      problems.add("the time to stop and save must be in [1, 3600] seconds, but was " + stopGrace);
    }
    boolean isNever = hangTimeout.isZero();
    long hang = hangTimeout.toSeconds();
    if (!isNever && (hang < SHORTEST_HANG_SECONDS || hang > LONGEST_SECONDS)) {
      problems.add("the hang timeout must be 0 or in [5, 3600] seconds, but was " + hangTimeout);
    }
    if (!problems.isEmpty()) {
      throw new LaunchException(List.copyOf(problems));
    }
  }

  /** States a policy under which nothing is encrypted. */
  public FailurePolicy(
      int maxRestarts,
      Duration stopGrace,
      Duration hangTimeout,
      Optional<Path> jobKey,
      boolean insecure,
      boolean checksCollectives) {
    this(
        maxRestarts, stopGrace, hangTimeout, jobKey, insecure, checksCollectives, Optional.empty());
  }

  /** States a policy under which several hosts need a key. */
  public FailurePolicy(
      int maxRestarts, Duration stopGrace, Duration hangTimeout, Optional<Path> jobKey) {
    this(maxRestarts, stopGrace, hangTimeout, jobKey, false, false);
  }

  /** Returns no restarts, 30 s to stop and save, and 8 s of silence before a rank is hung. */
  public static FailurePolicy defaults() {
    return new FailurePolicy(0, Duration.ofSeconds(30), Duration.ofSeconds(8), Optional.empty());
  }

  /** Returns this policy with another number of restarts. */
  public FailurePolicy withMaxRestarts(int restarts) {
    return new FailurePolicy(
        restarts, stopGrace, hangTimeout, jobKey, insecure, checksCollectives, secure);
  }

  boolean watchesForHangs() {
    return hangTimeout.isPositive();
  }
}
