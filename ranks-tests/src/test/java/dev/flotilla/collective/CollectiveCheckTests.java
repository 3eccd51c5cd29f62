package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CollectiveCheckTests {

  @TempDir Path folder;

  private List<String> compared(String... whats) throws Exception {
    return NativeGroups.onEachRank(
        folder.resolve("store"), whats.length, (group, rank) -> compared(group, rank, whats));
  }

  /** All ranks do the same first. */
  private static String compared(NativeGroup group, int rank, String... whats) {
    var check = new CollectiveCheck(group, rank, 2);
    check.compare("barrier", Duration.ofSeconds(5));
    try {
      check.compare(whats[rank], Duration.ofSeconds(5));
      return "same";
    } catch (AgreementException e) {
      return String.valueOf(e.getMessage());
    }
  }

  @Test
  void letsRanksGoOnThatDoTheSame() throws Exception {
    String what = "all-reduce SUM of 10 float32";
    assertThat(compared(what, what, what)).containsOnly("same");
  }

  @Test
  void namesBothSidesOnEveryRank() throws Exception {
    assertThat(compared("all-reduce SUM of 10 float32", "broadcast from 1 of 10 float32"))
        .hasSize(2)
        .containsOnly(
            "collective 2 differs between ranks: rank 0 calls all-reduce SUM of 10 float32, rank 1"
                + " calls broadcast from 1 of 10 float32; all ranks must call the same ones in the"
                + " same order");
  }

  /** Only as many as were asked for cost anything. */
  @Test
  void laterOnesAreNotCompared() throws Exception {
    var compared = new AtomicInteger();
    NativeGroups.onEachRank(
        folder.resolve("store"),
        2,
        (group, rank) -> {
          var check = new CollectiveCheck(group, rank, 3);
          for (int i = 0; i < 3; i++) {
            check.inspect(Operation.starting("barrier", Duration.ofSeconds(5)));
          }
          check.inspect(Operation.starting("only rank " + rank, Duration.ofSeconds(5)));
          compared.incrementAndGet();
          return "";
        });
    assertThat(compared).hasValue(2);
  }
}
