package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.flotilla.testkit.Ranks;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class AgreementTests {

  private static final Duration TIMEOUT = Duration.ofSeconds(10);

  @Test
  void equalRanksGoOnAndMayCheckAgain() {
    Ranks.run(
        3,
        group -> {
          Agreement.check(group, Map.of("layout", "abc"), TIMEOUT);
          Agreement.check(group, Map.of("layout", "def"), TIMEOUT);
          var tensor = Tensors.floats(1, 4);
          group.allReduce(tensor, Reduction.SUM, Traffic.EXCHANGE).await();
          assertThat(Tensors.values(tensor)).containsOnly(3);
        });
  }

  @Test
  void everyRankReadsBothSides() {
    var messages = messages(3, rank -> rank == 2 ? "0.01" : "0.05", TIMEOUT);
    var host = PeerInfo.hostName();
    assertThat(messages)
        .hasSize(3)
        .containsOnly(
            "the ranks of this job differ: ranks 0, 1 on %s have optimizer.lr = 0.05, rank 2 on %s has 0.01"
                .formatted(host, host));
  }

  @Test
  void differentLayoutsNeverReachTheWire() {
    Ranks.run(
        2,
        group -> {
          var tensor = Tensors.floats(1, 100 + group.rank());
          var facts = Map.of("layout", "elements " + tensor.numel());
          var failure =
              catchThrowableOfType(
                  AgreementException.class, () -> Agreement.check(group, facts, TIMEOUT));
          assertThat(failure)
              .hasMessageContaining("elements 100")
              .hasMessageContaining("elements 101");
          assertThat(failure.exitCode()).isEqualTo(2);
        });
  }

  @Test
  void silentRankIsNamed() {
    var messages = messages(3, rank -> rank == 1 ? "" : "0.05", Duration.ofSeconds(1));
    assertThat(messages.get(0))
        .isEqualTo("rank 1 did not say within 1.0 s with which settings it runs; see its log");
    assertThat(messages.get(2)).isEqualTo(messages.get(0));
  }

  @Test
  void differenceIsToldAlthoughOneRankIsSilent() {
    long start = System.nanoTime();
    var messages = messages(3, rank -> rank == 1 ? "" : "0.0" + rank, Duration.ofSeconds(20));
    assertThat(messages.get(0)).contains("rank 0").contains("rank 2").contains("0.02");
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(9));
  }

  @Test
  void silentLeaderIsNamedByTheOthers() {
    var messages = messages(2, rank -> rank == 0 ? "" : "0.05", Duration.ofSeconds(1));
    assertThat(messages.get(1)).startsWith("rank 0 did not say within 1.0 s");
  }

  /** Returns what each rank is told; a rank without a rate states nothing and waits. */
  private static List<String> messages(int size, IntFunction<String> rate, Duration timeout) {
    return Ranks.call(
        size,
        group -> {
          var lr = rate.apply(group.rank());
          if (lr.isEmpty()) {
            Thread.sleep(2_500);
            return "";
          }
          var facts = new LinkedHashMap<String, String>();
          facts.put("flotilla", "0.1.0");
          facts.put("optimizer.lr", lr);
          var failure =
              catchThrowableOfType(
                  AgreementException.class, () -> Agreement.check(group, facts, timeout));
          return String.valueOf(failure.getMessage());
        });
  }
}
