package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.launch.RankCommand;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * J4 and J5: who connects to the ports of Gloo before the ranks do. On another host he is not
 * heard; on a member's he may make a start fail, and never takes part in a step.
 */
@Tag("slow")
@Timeout(1200)
class GlooStrangerTests {

  private static final int RACES = Integer.getInteger("flotilla.test.races", 2);

  /** J4: the stranger has more connections. */
  private static final String FILES = "--nofile=512:512";

  private static final int FLOOD = 2000;
  private static final Duration STOPPED_WITHIN = Duration.ofSeconds(5);

  @TempDir Path folder;

  @Test
  void whoComesFromElsewhereChangesNothing() throws Exception {
    for (int race = 0; race < RACES; race++) {
      try (var stranger = new GlooStrangers("127.0.0.9")) {
        var start = new RacedStart(folder.resolve("a" + race), true, stranger::takePlaces);
        assertThat(start.run()).as("race %d", race).containsOnly(RacedStart.SUM);
        assertThat(stranger.connected()).isZero();
      }
    }
    System.out.printf("%d starts beside a stranger of another host: nothing changed%n", RACES);
  }

  /** Other users of a member's host. */
  @Test
  void whoComesFromAMembersHostIsFoundBeforeAStepIsMade() throws Exception {
    int stopped = 0;
    long longest = 0;
    for (int race = 0; race < RACES; race++) {
      try (var stranger = new GlooStrangers("127.0.0.1")) {
        var start = new RacedStart(folder.resolve("b" + race), true, stranger::takePlaces);
        long begin = System.nanoTime();
        List<String> said = start.run();
        longest = Math.max(longest, System.nanoTime() - begin);
        assertThat(stranger.connected()).isPositive();
        boolean isUnaffected = said.stream().allMatch(RacedStart.SUM::equals);
        assertThat(isUnaffected || said.stream().anyMatch(it -> !it.equals(RacedStart.SUM)))
            .isTrue();
        stopped += isUnaffected ? 0 : 1;
        assertThat(Duration.ofNanos(longest)).as("%s", said).isLessThan(STOPPED_WITHIN);
      }
    }
    System.out.printf(
        "%d starts beside a stranger of the same host: %d stopped, after %.1f s at most%n",
        RACES, stopped, longest / 1e9);
  }

  @Test
  void aFloodOfConnectionsEndsNobody() throws Exception {
    var command = new ArrayList<>(List.of("prlimit", FILES, RankCommand.currentJava().toString()));
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp"));
    command.addAll(List.of(System.getProperty("java.class.path"), FloodedRanks.class.getName()));
    command.add(folder.toString());
    Process ranks =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("out").toFile())
            .start();
    try (var stranger = new GlooStrangers("127.0.0.9")) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> Files.exists(folder.resolve("port1")) || !ranks.isAlive());
      for (int rank = 0; rank < 2; rank++) {
        stranger.connect(Integer.parseInt(Files.readString(folder.resolve("port" + rank))), FLOOD);
      }
      Thread.sleep(500);
      Files.createFile(folder.resolve("go"));
      assertThat(ranks.waitFor(60, TimeUnit.SECONDS)).isTrue();
      String said = Files.readString(folder.resolve("out"));
      assertThat(ranks.exitValue()).as(said).isZero();
      assertThat(said).contains("[sum 2.0, sum 2.0]");
    } finally {
      ranks.destroyForcibly();
    }
  }
}
