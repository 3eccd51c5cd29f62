package dev.flotilla.launch;

import dev.flotilla.control.FailureNotice;
import dev.flotilla.control.Peer;
import dev.flotilla.world.ExitCodes;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Turns the ends of ranks into one named failure. */
final class FailureReporter {

  private static final int LAST_LINES = 40;
  private static final int LINES_TO_SEARCH = 200;
  private static final Duration LAST_OUTPUT_TAKES = Duration.ofMillis(200);

  private final RankGroup group;
  private final ControlRoom room;

  FailureReporter(RankGroup group, ControlRoom room) {
    this.group = group;
    this.room = room;
  }

  /** Returns what others are told of a rank that has just ended by itself. */
  FailureNotice noticeOf(RankEnd end) throws InterruptedException {
    RankProcess rank = rank(end.rank());
    rank.pump().awaitEnd(LAST_OUTPUT_TAKES);
    RankEnd noted = new RankEnd(end.rank(), end.exitCode(), end.reaped(), rank.error());
    return named(
            rank, noted, Signals.describe(end.exitCode()), ownCause(noted), "", HostClock.now())
        .notice();
  }

  /** Returns what others are told when ranks have ended because of each other. */
  FailureNotice notice(
      RankEnd seenFirst, Instant stop, List<RankProcess> stopped, Optional<Integer> staller) {
    return failure(seenFirst, stop, stopped, staller, "").notice();
  }

  /**
   * Names the failure.
   *
   * @param seenFirst the first end that was no success
   * @param stop when the launcher began to stop the ranks
   * @param stoppedRanks ranks found stopped by SIGSTOP while others waited for them
   * @param staller a rank that made no progress while others waited for it
   * @param whereabouts where all ranks were
   */
  Failure failure(
      RankEnd seenFirst,
      Instant stop,
      List<RankProcess> stoppedRanks,
      Optional<Integer> staller,
      String whereabouts) {
    RankEnd first = RootCause.of(group.ends(), stop).orElse(seenFirst);
    if (first.mayHaveWaited() && !stoppedRanks.isEmpty()) {
      return becauseStopped(stoppedRanks.getFirst(), first, whereabouts, stop);
    }
    if (first.mayHaveWaited() && staller.isPresent() && isOwn(staller.get())) {
      return becauseStalled(rank(staller.get()), first, whereabouts, stop);
    }
    Optional<RankEnd> deserter = first.isConsequence() ? deserter(first) : Optional.empty();
    if (deserter.isPresent()) {
      return becauseEnded(rank(deserter.get().rank()), first, whereabouts, stop);
    }
    return named(
        rank(first.rank()),
        first,
        Signals.describe(first.exitCode()),
        cause(first),
        whereabouts,
        stop);
  }

  private String cause(RankEnd first) {
    return first.isConsequence()
        ? first.cause()
            + "\nno rank of this host failed otherwise: look at the other hosts and links"
        : ownCause(first);
  }

  /** A rank that could not note an error may have said in its log what happened. */
  private String ownCause(RankEnd end) {
    return end.error().isPresent()
        ? end.cause()
        : LastWords.in(RankLog.lastLines(rank(end.rank()).log(), LINES_TO_SEARCH))
            .orElse(end.cause());
  }

  private Failure becauseStopped(
      RankProcess stopped, RankEnd waiting, String whereabouts, Instant stop) {
    String cause =
        "%s is stopped (SIGSTOP); rank %d waited for it: %s"
            .formatted(stopped.label(), waiting.rank(), waiting.cause());
    String end = "stopped by SIGSTOP, killed by the launcher";
    return named(stopped, waiting, end, cause, whereabouts, stop);
  }

  private Failure becauseStalled(
      RankProcess staller, RankEnd waiting, String whereabouts, Instant stop) {
    String cause =
        "%s made no progress; rank %d waited for it: %s"
            .formatted(staller.label(), waiting.rank(), waiting.cause());
    var decisive = new RankEnd(staller.rank(), ExitCodes.HANG, waiting.time(), Optional.empty());
    return named(staller, decisive, "hung, ended by the launcher", cause, whereabouts, stop);
  }

  /** A rank may end without any error although others still count on it. */
  private Optional<RankEnd> deserter(RankEnd waiting) {
    return group.ends().stream()
        .filter(end -> end.exitCode() == ExitCodes.OK)
        .filter(end -> end.reaped().isBefore(waiting.reaped()))
        .findFirst();
  }

  private Failure becauseEnded(
      RankProcess ended, RankEnd waiting, String whereabouts, Instant stop) {
    String cause =
        "%s ended with exit code 0 before the others were done; rank %d waited for it: %s"
            .formatted(ended.label(), waiting.rank(), waiting.cause());
    return named(ended, waiting, "exit code 0, too early", cause, whereabouts, stop);
  }

  /** Returns what others are told of a rank or host that hangs. */
  FailureNotice noticeOf(Hang hang, LaunchSettings settings) {
    String end = "silent for %d s, killed by the launcher".formatted(hang.silence().toSeconds());
    return switch (hang.peer()) {
      case Peer.Rank(int number) -> {
        RankProcess rank = rank(number);
        var decisive = new RankEnd(number, ExitCodes.HANG, HostClock.now(), Optional.empty());
        yield named(rank, decisive, end, hang.cause(), "", HostClock.now()).notice();
      }
      case Peer.Host(int node) ->
          new FailureNotice(
              firstRank(node, settings),
              settings.hosts().isEmpty() ? "host " + node : settings.hosts().get(node),
              0,
              ExitCodes.HANG,
              "the launcher of host %d is %s".formatted(node, hang.isGone() ? "gone" : "silent"),
              "host %d: %s".formatted(node, hang.cause()),
              room.place(firstRank(node, settings)).progress(),
              "on that host",
              List.of());
    };
  }

  private static int firstRank(int node, LaunchSettings settings) {
    return node * settings.processes();
  }

  Failure hung(Hang hang, FailureNotice notice, Instant stop) {
    return told(notice, "", stop, hang.peer() instanceof Peer.Rank);
  }

  /** Names a failure that another launcher has told of. */
  Failure elsewhere(FailureNotice notice, Instant stop, String whereabouts) {
    return told(notice, whereabouts, stop, false);
  }

  private Failure told(FailureNotice notice, String whereabouts, Instant stop, boolean isHere) {
    return new Failure(
        notice.rank(),
        notice.host(),
        notice.pid(),
        notice.exitCode(),
        notice.end(),
        notice.cause(),
        notice.progress(),
        stop,
        Path.of(notice.log()),
        notice.lastLines(),
        whereabouts,
        others(isHere ? notice.rank() : -1, stop));
  }

  private Failure named(
      RankProcess named,
      RankEnd decisive,
      String end,
      String cause,
      String whereabouts,
      Instant stop) {
    return new Failure(
        named.rank(),
        HostName.local(),
        named.pid(),
        decisive.exitCode(),
        end,
        cause,
        room.place(named.rank()).progress(),
        decisive.time(),
        named.log(),
        RankLog.lastLines(named.log(), LAST_LINES),
        whereabouts,
        others(named.rank(), stop));
  }

  private List<String> others(int named, Instant stop) {
    var others = new ArrayList<String>();
    for (RankProcess rank : group.ranks()) {
      if (rank.rank() != named) {
        others.add(rank.label() + " " + whatHappened(rank, stop));
      }
    }
    return others;
  }

  private String whatHappened(RankProcess rank, Instant stop) {
    Optional<RankEnd> end =
        group.ends().stream().filter(it -> it.rank() == rank.rank()).findFirst();
    return end.map(it -> whatHappened(it, stop)).orElse("does not end, not even by SIGKILL");
  }

  private static String whatHappened(RankEnd end, Instant stop) {
    if (!end.failed()) {
      return end.hasStopped() ? "stopped as it was asked to" : "ended well";
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

  private boolean isOwn(int number) {
    return group.ranks().stream().anyMatch(it -> it.rank() == number);
  }

  private RankProcess rank(int number) {
    return group.ranks().stream().filter(it -> it.rank() == number).findFirst().orElseThrow();
  }
}
