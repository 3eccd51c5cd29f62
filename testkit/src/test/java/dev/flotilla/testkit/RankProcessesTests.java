package dev.flotilla.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RankProcessesTests {

  @Test
  void childrenKnowTheirRankAndTheirExitCodesComeBack() {
    var plan = RankProcesses.plan(2, Child.class, "exit").with("EXTRA", "more");
    try (var ranks = plan.start()) {
      var results = ranks.await(Duration.ofSeconds(20));
      assertThat(results).extracting(RankProcesses.RankResult::exitCode).containsExactly(3, 4);
      assertThat(results.get(1).output()).contains("rank 1 of 2 more");
    }
  }

  @Test
  void childrenThatDoNotEndAreKilled() {
    try (var ranks = RankProcesses.start(2, Child.class, "sleep")) {
      assertThatThrownBy(() -> ranks.await(Duration.ofSeconds(1)))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("rank 0 did not end");
      assertThat(ranks.process(0).isAlive()).isFalse();
      assertThat(ranks.process(1).isAlive()).isFalse();
    }
  }

  /** Prints who it is and ends, or does not. */
  static final class Child {

    private Child() {}

    public static void main(String[] arguments) throws InterruptedException {
      System.out.printf(
          "rank %s of %s %s%n",
          System.getenv("RANK"), System.getenv("WORLD_SIZE"), System.getenv("EXTRA"));
      if (arguments[0].equals("sleep")) {
        Thread.sleep(60_000);
      }
      System.exit(3 + Integer.parseInt(System.getenv("RANK")));
    }
  }
}
