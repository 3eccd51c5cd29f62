package dev.flotilla.launch;

import dev.flotilla.world.ExitCodes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Watches running ranks until all have ended well, one has failed, or the launch is interrupted.
 */
final class Supervisor {

  private static final Duration POLL = Duration.ofMillis(100);
  private static final int POLLS_PER_LOOK = 5;
  private static final int LOOKS_BEFORE_NAMED = 5;

  /** Time for ranks that fail together to be seen together. */
  private static final Duration SETTLE = Duration.ofMillis(500);

  /** A pager may be slow to take the last output of a launch that ended well. */
  private static final Duration OUTPUT_TAKES = Duration.ofMinutes(1);

  private final RankGroup group;
  private final Interruption interruption;
  private final Console console;
  private final Duration grace;
  private final StoppedRanks stoppedRanks;

  Supervisor(RankGroup group, Interruption interruption, Console console, Duration grace) {
    this.group = group;
    this.interruption = interruption;
    this.console = console;
    this.grace = grace;
    this.stoppedRanks = new StoppedRanks(LOOKS_BEFORE_NAMED, console);
  }

  /** Watches to the end; an interruption of this thread counts as one of the launch. */
  LaunchResult supervise() {
    boolean threadInterrupted = false;
    try {
      while (true) {
        try {
          return watch();
        } catch (InterruptedException e) {
          threadInterrupted = true;
          interruption.request();
        }
      }
    } finally {
      if (threadInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private LaunchResult watch() throws InterruptedException {
    Optional<RankEnd> failed = awaitFirstFailure();
    if (failed.isPresent()) {
      settle(failed.get());
    }
    if (interruption.isRequested()) {
      return interrupted();
    }
    return failed.isPresent() ? failed(failed.get()) : completed();
  }

  /** An interruption from the keyboard reaches ranks and launcher alike, in any order. */
  private void settle(RankEnd failed) throws InterruptedException {
    if (failed.exitCode() == ExitCodes.INTERRUPTED) {
      interruption.awaitRequest(SETTLE);
    }
    if (!interruption.isRequested()) {
      group.awaitAll(SETTLE);
    }
  }

  private Optional<RankEnd> awaitFirstFailure() throws InterruptedException {
    for (int poll = 1; !group.living().isEmpty() && !interruption.isRequested(); poll++) {
      Optional<RankEnd> failed = group.awaitEnd(POLL).filter(RankEnd::failed);
      if (failed.isPresent()) {
        return failed;
      }
      if (poll % POLLS_PER_LOOK == 0) {
        stoppedRanks.look(group.living());
      }
    }
    return Optional.empty();
  }

  private LaunchResult completed() throws InterruptedException {
    int killed = group.finish(OUTPUT_TAKES);
    if (killed > 0) {
      console.say("killed %s that ranks had left behind".formatted(count(killed, "process")));
    }
    return LaunchResult.completed();
  }

  private LaunchResult interrupted() throws InterruptedException {
    console.say("interrupted; stopping " + count(group.living().size(), "rank"));
    group.stop(grace);
    return LaunchResult.interrupted();
  }

  private LaunchResult failed(RankEnd seenFirst) throws InterruptedException {
    Instant stop = Instant.now();
    List<RankProcess> stopped = group.living().stream().filter(RankProcess::isStopped).toList();
    console.say(
        "rank %d ended with %s; %s still running on this host"
            .formatted(
                seenFirst.rank(),
                Signals.describe(seenFirst.exitCode()),
                count(group.living().size(), "rank")));
    group.stop(grace);
    Failure failure = new FailureReporter(group, stop).failure(stopped);
    console.say(failure.report());
    return LaunchResult.failed(failure);
  }

  private static String count(int number, String noun) {
    String plural = noun.endsWith("s") ? noun + "es" : noun + "s";
    return number + " " + (number == 1 ? noun : plural);
  }
}
