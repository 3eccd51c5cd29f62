package dev.flotilla.launch;

import dev.flotilla.control.FailureNotice;
import dev.flotilla.control.Frame;
import dev.flotilla.world.ExitCodes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Watches running ranks until all have ended well or stopped as asked, one has failed or hangs, or
 * the launch is interrupted.
 */
final class Supervisor {

  private static final Duration POLL = Duration.ofMillis(100);

  /** Time for ranks that fail together to be seen together. */
  private static final Duration SETTLE = Duration.ofMillis(500);

  /** Time for another host to say that the failure began there. */
  private static final Duration OTHERS_TAKE = Duration.ofSeconds(2);

  /** Time for the ranks to put a notice into their logs. */
  private static final Duration NOTICE_TAKES = Duration.ofSeconds(2);

  /** A pager may be slow to take the last output of a launch that ended well. */
  private static final Duration OUTPUT_TAKES = Duration.ofMinutes(1);

  /** What a stranger may have said is shown up to here. */
  private static final int LONGEST_REASON = 300;

  private static final Set<Integer> ASKED_TO_END =
      Set.of(ExitCodes.INTERRUPTED, ExitCodes.SIGNAL + Signals.TERM);

  /** What ends the watch. */
  private sealed interface Outcome {

    record AllEnded() implements Outcome {}

    record Failed(RankEnd end) implements Outcome {}

    record FailedElsewhere(FailureNotice notice) implements Outcome {}

    record Hung(Hang hang) implements Outcome {}

    record Refused(String reason) implements Outcome {}

    record Interrupted() implements Outcome {}
  }

  private final RankGroup group;
  private final Interruption interruption;
  private final ControlRoom room;
  private final Console console;
  private final LaunchSettings settings;
  private final HangWatch hangs;
  private final Stopping stopping;
  private final FailureReporter reporter;

  Supervisor(
      RankGroup group,
      Interruption interruption,
      ControlRoom room,
      Console console,
      LaunchSettings settings) {
    this.group = group;
    this.interruption = interruption;
    this.room = room;
    this.console = console;
    this.settings = settings;
    FailurePolicy policy = settings.policy();
    this.hangs = new HangWatch(room, group, console, settings.logDir(), policy.hangTimeout());
    this.stopping = new Stopping(room, group, interruption, console, policy.stopGrace());
    this.reporter = new FailureReporter(group, room);
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
    return switch (awaitOutcome()) {
      case Outcome.AllEnded() -> completed();
      case Outcome.Failed(RankEnd end) -> failed(end);
      case Outcome.FailedElsewhere(FailureNotice notice) -> failedElsewhere(notice);
      case Outcome.Hung(Hang hang) -> hung(hang);
      case Outcome.Refused(String reason) -> refused(reason);
      case Outcome.Interrupted() -> interrupted();
    };
  }

  private Outcome awaitOutcome() throws InterruptedException {
    while (!interruption.isRequested()) {
      if (group.living().isEmpty()) {
        return new Outcome.AllEnded();
      }
      Optional<RankEnd> failed = group.awaitEnd(POLL).filter(this::hasFailed);
      if (failed.isPresent()) {
        return new Outcome.Failed(failed.get());
      }
      room.look();
      Optional<Outcome> told = lookAround();
      if (told.isPresent()) {
        return told.get();
      }
    }
    return new Outcome.Interrupted();
  }

  private boolean hasFailed(RankEnd end) {
    return end.failed() || (end.hasStopped() && !stopping.isDecided());
  }

  private Optional<Outcome> lookAround() throws InterruptedException {
    if (stopping.look() == Stopping.Verdict.END_BY_SIGNAL) {
      interruption.request(stopping.signal());
      return Optional.empty();
    }
    Optional<Outcome> refused = room.others().refusal().map(Outcome.Refused::new);
    if (refused.isPresent()) {
      return refused;
    }
    Optional<Outcome> elsewhere = room.others().failure().map(Outcome.FailedElsewhere::new);
    return elsewhere.isPresent() ? elsewhere : hangs.look().map(Outcome.Hung::new);
  }

  private LaunchResult completed() throws InterruptedException {
    int killed = group.finish(OUTPUT_TAKES);
    if (killed > 0) {
      console.say("killed %s that ranks had left behind".formatted(count(killed, "process")));
    }
    boolean hasStopped = group.ends().stream().anyMatch(RankEnd::hasStopped);
    return hasStopped ? LaunchResult.ended(ExitCodes.STOPPED) : LaunchResult.completed();
  }

  private LaunchResult interrupted() throws InterruptedException {
    console.say("interrupted; stopping " + count(group.living().size(), "rank"));
    stopRanks();
    return LaunchResult.ended(interruption.exitCode());
  }

  /** Ranks of a host that is not let in would wait for the others in vain. */
  private LaunchResult refused(String reason) throws InterruptedException {
    console.say(
        reason.substring(0, Math.min(LONGEST_REASON, reason.length()))
            + (reason.contains("key")
                ? "; give all hosts the same --job-key-file and --rdzv-id"
                : ""));
    stopRanks();
    return LaunchResult.ended(ExitCodes.RENDEZVOUS_FAILED);
  }

  /** Ranks that have learnt to stop after a micro-step must know that this time is another. */
  private void stopRanks() throws InterruptedException {
    room.sendToRanks(new Frame.Leave());
    group.stop(settings.grace());
  }

  private LaunchResult failed(RankEnd seenFirst) throws InterruptedException {
    if (ASKED_TO_END.contains(seenFirst.exitCode()) && awaitInterruption()) {
      return interrupted();
    }
    List<RankProcess> stopped = group.living().stream().filter(RankProcess::isStopped).toList();
    if (!seenFirst.mayHaveWaited()) {
      tellAll(reporter.noticeOf(seenFirst));
    }
    group.awaitAll(SETTLE);
    if (interruption.isRequested()) {
      return interrupted();
    }
    Optional<FailureNotice> elsewhere = elsewhere(seenFirst);
    if (elsewhere.isPresent()) {
      return failedElsewhere(elsewhere.get());
    }
    Optional<Hang> gone = allMayHaveWaited() ? hangs.gone() : Optional.empty();
    return gone.isPresent() ? hung(gone.get()) : failedHere(seenFirst, stopped);
  }

  private void tellAll(FailureNotice notice) throws InterruptedException {
    room.sendToHosts(new Frame.Notice(notice));
    tellRanks(notice);
  }

  /** Waits until the ranks have the notice in their logs, as they are stopped soon after. */
  private void tellRanks(FailureNotice notice) throws InterruptedException {
    room.announce(notice);
    boolean _ = room.await(this::haveAllNoted, NOTICE_TAKES);
  }

  private boolean haveAllNoted() {
    group.takeEnds();
    return group.living().stream().allMatch(rank -> room.hasNoted(rank.rank()) || rank.isStopped());
  }

  /** A signal to a whole process group reaches ranks and launcher alike, in any order. */
  private boolean awaitInterruption() throws InterruptedException {
    return interruption.awaitRequest(SETTLE) || interruptedByStopSignal();
  }

  private boolean interruptedByStopSignal() {
    interruption.stopSignal().ifPresent(interruption::request);
    return interruption.isRequested();
  }

  /** Ranks that failed because of a peer may have one on another host to blame. */
  private Optional<FailureNotice> elsewhere(RankEnd seenFirst) throws InterruptedException {
    if (!settings.isOneHost() && allMayHaveWaited() && seenFirst.mayHaveWaited()) {
      boolean isKnown = room.await(() -> room.others().failure().isPresent(), OTHERS_TAKE);
      if (!isKnown) {
        room.awaitLost();
      }
    }
    return allMayHaveWaited() ? room.others().failure() : Optional.empty();
  }

  private boolean allMayHaveWaited() {
    return group.ends().stream().filter(RankEnd::failed).allMatch(RankEnd::mayHaveWaited);
  }

  private LaunchResult failedHere(RankEnd seenFirst, List<RankProcess> stopped)
      throws InterruptedException {
    Instant stop = HostClock.now();
    String whereabouts = whereabouts();
    console.say(
        "rank %d ended with %s; %s still running on this host"
            .formatted(
                seenFirst.rank(),
                Signals.describe(seenFirst.exitCode()),
                count(group.living().size(), "rank")));
    if (seenFirst.mayHaveWaited()) {
      tellAll(reporter.notice(seenFirst, stop, stopped, hangs.staller()));
    }
    room.traces().dumpCollectives(settings.logDir());
    stopRanks();
    return report(reporter.failure(seenFirst, stop, stopped, hangs.staller(), whereabouts));
  }

  private LaunchResult failedElsewhere(FailureNotice notice) throws InterruptedException {
    Instant stop = HostClock.now();
    String whereabouts = whereabouts();
    tellRanks(notice);
    room.traces().dumpCollectives(settings.logDir());
    stopRanks();
    return report(reporter.elsewhere(notice, stop, whereabouts));
  }

  private LaunchResult hung(Hang hang) throws InterruptedException {
    Instant stop = HostClock.now();
    FailureNotice notice = reporter.noticeOf(hang, settings);
    tellAll(notice);
    room.traces().dumpCollectives(settings.logDir());
    stopRanks();
    return report(reporter.hung(hang, notice, stop));
  }

  private String whereabouts() {
    boolean hasCollectives = room.places().stream().anyMatch(place -> place.sequence() > 0);
    return hasCollectives ? hangs.whereabouts() : "";
  }

  private LaunchResult report(Failure failure) {
    console.say(failure.report());
    return LaunchResult.failed(failure);
  }

  private static String count(int number, String noun) {
    String plural = noun.endsWith("s") ? noun + "es" : noun + "s";
    return number + " " + (number == 1 ? noun : plural);
  }
}
