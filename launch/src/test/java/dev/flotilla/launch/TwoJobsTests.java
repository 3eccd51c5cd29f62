package dev.flotilla.launch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.control.JobKey;
import dev.flotilla.world.ExitCodes;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * C5: two jobs on the same hosts at a time, somebody of yesterday's job, and ports that others use:
 * jobs do not touch each other, and what cannot be says why.
 */
@Tag("slow")
@Timeout(120)
class TwoJobsTests {

  private static final int ROUNDS = Integer.getInteger("flotilla.test.jobs", 1);

  @TempDir Path folder;

  static Stream<Integer> rounds() {
    return IntStream.range(0, ROUNDS).boxed();
  }

  private static final String[] STEPS = {"*:link", "*:train:60/20", "*:print:done"};

  private HostLaunchers job(String name, int port) {
    return new HostLaunchers(folder.resolve(name), port, JobKey.newText());
  }

  private static void assertDone(LauncherProcess... hosts) throws InterruptedException {
    for (LauncherProcess host : hosts) {
      assertThat(host.await(60)).as(host.out()).isZero();
      assertThat(host.logOf(0)).contains("done");
      assertThat(host.out()).doesNotContain("turned away", "is lost");
    }
  }

  @ParameterizedTest
  @MethodSource("rounds")
  void twoJobsOfTheSameHostsDoNotTouchEachOther(int round) throws Exception {
    try (var one = job("one" + round, HostLaunchers.freePort());
        var other = job("other" + round, HostLaunchers.freePort())) {
      assertDone(
          one.start(0, List.of(), STEPS),
          other.start(0, List.of(), STEPS),
          other.start(1, List.of(), STEPS),
          one.start(1, List.of(), STEPS));
    }
  }

  /** A launcher that was left over, or was given another job's port by mistake. */
  @ParameterizedTest
  @MethodSource("rounds")
  void whoBelongsToAnotherJobIsRefusedByNameAndTheJobGoesOn(int round) throws Exception {
    int port = HostLaunchers.freePort();
    try (var today = job("today" + round, port);
        var yesterday = job("yesterday" + round, port)) {
      LauncherProcess first = today.start(0, List.of(), STEPS);
      LauncherProcess stale = yesterday.start(1, List.of(), STEPS);
      assertThat(stale.await(60)).as(stale.out()).isEqualTo(ExitCodes.RENDEZVOUS_FAILED);
      assertThat(stale.out()).contains("refuses this one: wrong job key");
      LauncherProcess second = today.start(1, List.of(), STEPS);

      assertThat(first.await(60)).as(first.out()).isZero();
      assertThat(first.out()).contains("who has not proved to know the job's key was turned away");
      assertDone(second);
    }
  }

  @ParameterizedTest
  @MethodSource("rounds")
  void aPortThatIsTakenIsNamed(int round) throws Exception {
    int port = HostLaunchers.freePort();
    try (var taken = new ServerSocket(port + 1, 5, InetAddress.getLoopbackAddress());
        var job = job("taken" + round, port)) {
      LauncherProcess first = job.start(0, List.of(), STEPS);

      // The command line makes exit code 6 of it.
      assertThat(first.await(60)).as(first.out()).isNotZero();
      assertThat(first.out())
          .contains(
              "port %d of this host, at which the launchers of several hosts talk, cannot be used"
                  .formatted(taken.getLocalPort()))
          .contains("choose another --master-port");
    }
  }
}
