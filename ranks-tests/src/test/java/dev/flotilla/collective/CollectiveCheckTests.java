package dev.flotilla.collective;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.Ranks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CollectiveCheckTests {

  @TempDir Path folder;

  private List<String> compared(String... whats) throws Exception {
    return NativeGroups.onEachRank(
        folder.resolve("store"), whats.length, (group, rank) -> compared(group, rank, whats));
  }

  /** All ranks do the same first. */
  private static String compared(NativeGroup group, int rank, String... whats) {
    var check = new CollectiveCheck(group, rank, CollectiveCheck.FIRST);
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

  /** What one rank does reaches all, however far away it is. */
  @ParameterizedTest
  @ValueSource(ints = {3, 5})
  void everyRankLearnsOfTheOneThatDiffers(int ranks) throws Exception {
    var whats = new String[ranks];
    Arrays.fill(whats, "barrier");
    whats[1] = "broadcast";
    assertThat(compared(whats))
        .hasSize(ranks)
        .allMatch(it -> it.startsWith("collective 2 differs between ranks: rank 0 calls barrier"))
        .allMatch(it -> it.contains("rank 1 calls broadcast, rank 2 calls barrier"));
  }

  /** B6: of each of eight ways to differ. */
  private static final int TIMES = Integer.getInteger("flotilla.test.mismatches", 1);

  private static final Duration FOUND_WITHIN = Duration.ofSeconds(5);

  private static final String USUAL = "all-reduce SUM of 40 bytes of Float";

  private static final Map<String, Consumer<Collective>> CALLS =
      Map.of(
          USUAL,
          it -> sum(it, Tensors.floats(1, 10)),
          "all-reduce SUM of 400 bytes of Float",
          it -> sum(it, Tensors.floats(1, 100)),
          "all-reduce SUM of 40 bytes of Int",
          it -> sum(it, Tensors.filled(1, 10, ScalarType.Int)),
          "all-reduce SUM of 40 bytes of Long",
          it -> sum(it, Tensors.filled(1, 5, ScalarType.Long)),
          "all-reduce MAX of 40 bytes of Float",
          it -> it.allReduce(Tensors.floats(1, 10), Reduction.MAX, Traffic.EXCHANGE).await(),
          "broadcast from 0 of 40 bytes of Float",
          it -> it.broadcast(Tensors.floats(1, 10), 0, Traffic.START).await(),
          "broadcast from 1 of 40 bytes of Float",
          it -> it.broadcast(Tensors.floats(1, 10), 1, Traffic.START).await(),
          "all-to-all of 40 bytes of Float",
          it -> it.allToAll(Tensors.floats(1, 10), Tensors.floats(1, 10), Traffic.EXCHANGE).await(),
          "barrier",
          Collective::barrier);

  private static void sum(Collective group, Tensor tensor) {
    group.allReduce(tensor, Reduction.SUM, Traffic.EXCHANGE).await();
  }

  /** Another size, type, reduction, root, operation or order. */
  static Stream<String> others() {
    return CALLS.keySet().stream().sorted().filter(call -> !call.equals(USUAL));
  }

  /** Without being asked for: these are the first collectives of a group. */
  @ParameterizedTest
  @MethodSource("others")
  void whatDiffersIsFoundBeforeItAbortsHangsOrGivesWrongNumbers(String other) {
    for (int i = 0; i < TIMES; i++) {
      List<String> said = Ranks.call(2, group -> difference(group, USUAL, other));

      assertThat(said)
          .containsOnly(
              "collective 2 differs between ranks: rank 0 calls %s, rank 1 calls %s; all ranks must"
                      .formatted(USUAL, other)
                  + " call the same ones in the same order");
    }
  }

  private static String difference(Collective group, String first, String second) {
    sum(group, Tensors.floats(1, 3));
    long start = System.nanoTime();
    try {
      requireNonNull(CALLS.get(group.rank() == 0 ? first : second)).accept(group);
      return "nothing was found";
    } catch (AgreementException e) {
      var after = Duration.ofNanos(System.nanoTime() - start);
      assertThat(after).isLessThan(FOUND_WITHIN);
      return String.valueOf(e.getMessage());
    }
  }

  /** Whoever asks for nothing pays for the first ones alone. */
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
