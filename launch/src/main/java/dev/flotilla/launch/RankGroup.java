package dev.flotilla.launch;

import dev.flotilla.text.Secrets;
import dev.flotilla.world.ExitCodes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The ranks of this host, from their start until the last process they started is gone. */
final class RankGroup implements AutoCloseable {

  private static final Duration KILL_TAKES = Duration.ofSeconds(2);
  private static final Duration LAST_OUTPUT_TAKES = Duration.ofMillis(500);

  private final String launchId;
  private final Secrets secrets;
  private final List<RankProcess> ranks = new ArrayList<>();
  private final BlockingQueue<RankEnd> arriving = new LinkedBlockingQueue<>();
  private final Map<Integer, RankEnd> ends = new TreeMap<>();

  RankGroup(String launchId, Secrets secrets) {
    this.launchId = launchId;
    this.secrets = secrets;
  }

  /** Takes a started rank into the group. */
  void add(RankProcess rank) {
    ranks.add(rank);
    var _ = rank.process().onExit().thenAccept(process -> arriving.add(ended(rank, process)));
  }

  private RankEnd ended(RankProcess rank, Process process) {
    RankEnd end = endOf(rank, process);
    // A JVM that leaves no core ends with code 1 after a crash.
    if (end.exitCode() != ExitCodes.OK) {
      CrashFile.hideSecrets(rank.pid(), secrets);
    }
    return end;
  }

  private static RankEnd endOf(RankProcess rank, Process process) {
    return new RankEnd(rank.rank(), process.exitValue(), HostClock.now(), Optional.empty());
  }

  List<RankProcess> ranks() {
    return Collections.unmodifiableList(ranks);
  }

  List<RankProcess> living() {
    return ranks.stream().filter(rank -> !ends.containsKey(rank.rank())).toList();
  }

  /** Returns how ranks have ended so far, in the order of ranks, with what they noted about it. */
  List<RankEnd> ends() {
    return ranks.stream().filter(rank -> ends.containsKey(rank.rank())).map(this::end).toList();
  }

  private RankEnd end(RankProcess rank) {
    RankEnd end = ends.getOrDefault(rank.rank(), endOf(rank, rank.process()));
    return new RankEnd(end.rank(), end.exitCode(), end.reaped(), rank.error());
  }

  /** Waits for the next rank to end. */
  Optional<RankEnd> awaitEnd(Duration longest) throws InterruptedException {
    Optional<RankEnd> end =
        Optional.ofNullable(arriving.poll(longest.toNanos(), TimeUnit.NANOSECONDS));
    end.ifPresent(it -> ends.put(it.rank(), it));
    return end;
  }

  /** Takes note of all ranks that have ended by now. */
  void takeEnds() {
    for (RankEnd end = arriving.poll(); end != null; end = arriving.poll()) {
      ends.put(end.rank(), end);
    }
  }

  /** Waits until all ranks have ended; tells whether they have. */
  boolean awaitAll(Duration longest) throws InterruptedException {
    long deadline = System.nanoTime() + longest.toNanos();
    while (!living().isEmpty()) {
      Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
      if (awaitEnd(left).isEmpty()) {
        return false;
      }
    }
    return true;
  }

  /**
   * Ends every rank and whatever it started: SIGTERM, the grace period, SIGKILL.
   *
   * <p>A stopped rank cannot act on SIGTERM and is killed at once.
   */
  void stop(Duration grace) throws InterruptedException {
    List<ProcessHandle> descendants =
        living().stream().flatMap(rank -> rank.handle().descendants()).toList();
    for (RankProcess rank : living()) {
      boolean signalled =
          rank.isStopped() ? rank.handle().destroyForcibly() : rank.handle().destroy();
      if (!signalled) {
        rank.handle().destroyForcibly();
      }
    }
    if (!awaitAll(grace)) {
      living().forEach(rank -> rank.handle().destroyForcibly());
      awaitAll(KILL_TAKES);
    }
    descendants.forEach(ProcessHandle::destroyForcibly);
    finish(LAST_OUTPUT_TAKES);
  }

  /**
   * Kills what ranks have started and not ended, then waits for the rest of their output.
   *
   * <p>In this order, as such a process may hold a dead rank's output open.
   *
   * @param longest how long to wait for it
   * @return how many processes were killed
   */
  int finish(Duration longest) throws InterruptedException {
    int killed = killLeftovers();
    long deadline = System.nanoTime() + longest.toNanos();
    for (RankProcess rank : ranks) {
      rank.pump().awaitEnd(Duration.ofNanos(Math.max(1, deadline - System.nanoTime())));
    }
    return killed;
  }

  private int killLeftovers() {
    Stream<ProcessHandle> living =
        ranks.stream().filter(rank -> rank.process().isAlive()).map(RankProcess::handle);
    return (int)
        Stream.concat(living, ProcessTable.ofLaunch(launchId).stream())
            .distinct()
            .filter(ProcessHandle::destroyForcibly)
            .count();
  }

  /** Leaves nothing behind, whatever happened before. */
  @Override
  public void close() {
    if (living().isEmpty()) {
      return;
    }
    killLeftovers();
    try {
      awaitAll(KILL_TAKES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
