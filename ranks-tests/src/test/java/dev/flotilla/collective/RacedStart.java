package dev.flotilla.collective;

import dev.flotilla.control.JobKey;
import dev.flotilla.memory.TensorScope;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.function.IntConsumer;

/**
 * Two ranks of one process that connect by Gloo and prove it, with somebody who may do something to
 * each one's port before anybody is connected.
 */
final class RacedStart {

  static final String SUM = "sum 2.0";

  private static final JobKey KEY = JobKey.of("k".repeat(64));
  private static final Duration JOINING_TAKES = Duration.ofSeconds(4);
  private static final Duration PROVING_TAKES = Duration.ofSeconds(2);

  private final Path file;
  private final boolean isFiltered;
  private final IntConsumer stranger;
  private final InetAddress loopback = InetAddress.ofLiteral("127.0.0.1");

  /**
   * Creates a start.
   *
   * @param file where the ranks meet
   * @param isFiltered whether ranks hear nobody but 127.0.0.1
   * @param stranger gets each port before anybody connects to it
   */
  RacedStart(Path file, boolean isFiltered, IntConsumer stranger) {
    this.file = file;
    this.isFiltered = isFiltered;
    this.stranger = stranger;
  }

  /** Returns for each rank {@link #SUM}, or why it makes no step. */
  List<String> run() throws Exception {
    try (var threads = Executors.newCachedThreadPool()) {
      List<Callable<String>> ranks = List.of(() -> join(0), () -> join(1));
      var said = new ArrayList<String>();
      for (var result : threads.invokeAll(ranks)) {
        said.add(result.get());
      }
      return said;
    }
  }

  private String join(int rank) {
    var settings =
        CollectiveSettings.defaults().withTimeout(JOINING_TAKES).withJoinTimeout(JOINING_TAKES);
    try (var _ = TensorScope.open();
        var store = NativeStore.inFile(file)) {
      var membership = new Membership(store, loopback, settings);
      var roster = membership.meet("race", PeerInfo.here(rank, loopback, ""), rank, 2);
      var listener = new GlooListener(loopback);
      try (var group =
          GlooConnection.open(
              store, "race/gloo", roster, rank, listener, settings, () -> meet(listener))) {
        String problem = PairProof.problem(group, "race", rank, KEY, PROVING_TAKES);
        return problem.isEmpty() ? SUM : "unauthenticated peer: " + problem;
      }
    } catch (RendezvousException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private void meet(GlooListener listener) {
    if (isFiltered) {
      listener.hearOnly(Set.of(loopback));
    }
    stranger.accept(listener.port());
  }
}
