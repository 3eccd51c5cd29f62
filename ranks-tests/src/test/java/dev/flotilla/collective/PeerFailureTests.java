package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.RankProcesses;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PeerFailureTests {

  @Test
  void namesTheRankThatWasKilled() {
    try (var ranks = RankProcesses.start(3, EndlessReductions.class, "20")) {
      awaitWork(ranks, 3);
      long pid = ranks.pid(1);
      ranks.process(1).destroyForcibly();
      for (int rank : new int[] {0, 2}) {
        var result = ranks.await(rank, Duration.ofSeconds(5));
        assertThat(result.exitCode()).isEqualTo(5);
        assertThat(result.output())
            .contains("rank %d on ".formatted(rank))
            .contains("all-reduce of 400000 bytes over 3 ranks failed after")
            .contains("(pid %d) is gone".formatted(pid));
      }
    }
  }

  @Test
  void namesTheRankThatWasStopped() throws Exception {
    try (var ranks = RankProcesses.start(2, EndlessReductions.class, "2")) {
      awaitWork(ranks, 2);
      new ProcessBuilder("kill", "-STOP", Long.toString(ranks.pid(1))).start().waitFor();
      var result = ranks.await(0, Duration.ofSeconds(10));
      assertThat(result.exitCode()).isEqualTo(5);
      assertThat(result.output())
          .contains("timeout 2.0 s")
          .contains("rank 1 on ")
          .contains("(pid %d) is stopped".formatted(ranks.pid(1)));
    }
  }

  private static void awaitWork(RankProcesses ranks, int size) {
    for (int rank = 0; rank < size; rank++) {
      ranks.awaitOutput(rank, "working", Duration.ofSeconds(30));
    }
  }
}
