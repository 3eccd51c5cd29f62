package dev.flotilla.launch;

import dev.flotilla.world.ExitCodes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Turns the ends of all ranks into one named failure. */
final class FailureReporter {

  private static final int LAST_LINES = 20;

  private final RankGroup group;
  private final Instant stop;

  /**
   * Creates a reporter for ranks that have all ended.
   *
   * @param stop when the launcher began to stop them
   */
  FailureReporter(RankGroup group, Instant stop) {
    this.group = group;
    this.stop = stop;
  }

  /**
   * Names the failure.
   *
   * @param stoppedRanks ranks found stopped by SIGSTOP while others waited for them
   */
  Failure failure(List<RankProcess> stoppedRanks) {
    RankEnd first = RootCause.of(group.ends(), stop).orElseThrow();
    if (first.mayHaveWaited() && !stoppedRanks.isEmpty()) {
      return becauseStopped(stoppedRanks.getFirst(), first);
    }
    return failure(rank(first.rank()), first, Signals.describe(first.exitCode()), cause(first));
  }

  private static String cause(RankEnd first) {
    return first.isConsequence()
        ? first.cause()
            + "\nno rank of this host failed otherwise: look at the other hosts and links"
        : first.cause();
  }

  private Failure becauseStopped(RankProcess stopped, RankEnd waiting) {
    String cause =
        "%s is stopped (SIGSTOP); rank %d waited for it: %s"
            .formatted(stopped.label(), waiting.rank(), waiting.cause());
    return failure(stopped, waiting, "stopped by SIGSTOP, killed by the launcher", cause);
  }

  private Failure failure(RankProcess named, RankEnd decisive, String end, String cause) {
    return new Failure(
        named.rank(),
        HostName.local(),
        named.pid(),
        decisive.exitCode(),
        end,
        cause,
        decisive.time(),
        named.log(),
        LogTail.of(named.log(), LAST_LINES),
        others(named));
  }

  private List<String> others(RankProcess named) {
    var others = new ArrayList<String>();
    for (RankProcess rank : group.ranks()) {
      if (rank.rank() != named.rank()) {
        others.add(rank.label() + " " + whatHappened(rank));
      }
    }
    return others;
  }

  private String whatHappened(RankProcess rank) {
    Optional<RankEnd> end =
        group.ends().stream().filter(it -> it.rank() == rank.rank()).findFirst();
    return end.map(this::whatHappened).orElse("does not end, not even by SIGKILL");
  }

  private String whatHappened(RankEnd end) {
    if (!end.failed()) {
      return "ended well";
    }
    if (end.failedBefore(stop)) {
      return "ended with %s: %s".formatted(Signals.describe(end.exitCode()), end.cause());
    }
    return switch (end.exitCode() - ExitCodes.SIGNAL) {
      case Signals.TERM -> "was stopped by the launcher (SIGTERM)";
      case Signals.KILL -> "was killed by the launcher (SIGKILL)";
      default -> "ended with exit code %d when it was stopped".formatted(end.exitCode());
    };
  }

  private RankProcess rank(int number) {
    return group.ranks().stream().filter(it -> it.rank() == number).findFirst().orElseThrow();
  }
}
