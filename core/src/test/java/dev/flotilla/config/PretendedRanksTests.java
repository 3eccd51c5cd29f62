package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.collective.CollectiveSettings;
import dev.flotilla.collective.Collectives;
import dev.flotilla.collective.RankSlices;
import dev.flotilla.collective.Reduction;
import dev.flotilla.collective.Traffic;
import dev.flotilla.memory.NativeLibraries;
import dev.flotilla.memory.NativeMemory;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.world.World;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;

/** One process has the buffers of a rank among three, and waits for nobody. */
class PretendedRanksTests {

  private static final RankSlices SLICES = RankSlices.of(3, 2, 2);

  private static void amongThree(Consumer<PretendedRanks> action) {
    NativeLibraries.load();
    try (var _ = TensorScope.open();
        var alone = Collectives.join(World.solo(), CollectiveSettings.defaults())) {
      action.accept(new PretendedRanks(alone, 3));
    }
  }

  private static double[] numbers(Tensor tensor) {
    return NativeView.of(tensor).toArray(ValueLayout.JAVA_DOUBLE);
  }

  @Test
  void isTheFirstOfAllAndSoAreItsGroups() {
    amongThree(
        ranks -> {
          assertThat(ranks.rank()).isZero();
          assertThat(ranks.size()).isEqualTo(3);
          assertThat(ranks.subgroup(0, 1, 2).size()).isEqualTo(3);
          ranks.barrier();
        });
  }

  @Test
  void sumsAreWhatThisRankHas() {
    amongThree(
        ranks -> {
          var numbers = Tensors.ofDoubles(1, 2);
          ranks.allReduce(numbers, Reduction.SUM, Traffic.EXCHANGE).await();
          ranks.broadcast(numbers, 0, Traffic.START).await();
          assertThat(numbers(numbers)).containsExactly(1, 2);
        });
  }

  @Test
  void othersSayWhatThisOneSays() {
    amongThree(
        ranks -> {
          var all = Tensors.ofDoubles(new double[6]);
          ranks.allGather(all, Tensors.ofDoubles(1, 2), Traffic.EXCHANGE).await();
          assertThat(numbers(all)).containsExactly(1, 2, 1, 2, 1, 2);
          var store = ranks.keyValueStore();
          store.set("rank-0", "ready");
          assertThat(store.get("rank-2")).contains("ready");
        });
  }

  /** What nobody has written may be anything, and a model of NaN would end the search. */
  @Test
  void slicesOfOtherRanksAreSmallNumbers() {
    amongThree(
        ranks -> {
          var whole = Tensors.ofDoubles(7, 7, 7, Double.NaN, 7, 7, 7);
          ranks.allGather(whole, Tensors.ofDoubles(1, 2, 3), SLICES, Traffic.EXCHANGE).await();
          assertThat(numbers(whole)).containsExactly(1, 2, 3, 1e-3, 1e-3, 1e-3, 1e-3);
        });
  }

  /** The place may have been taken a moment ago, for parameters that were freed. */
  @Test
  void soAreThoseBesideASliceInItsPlace() {
    amongThree(
        ranks -> {
          var whole = Tensors.ofDoubles(1, 2, 3, Double.NaN, 5, 6, 7);
          ranks.allGather(whole, SLICES.slice(whole, 0), SLICES, Traffic.EXCHANGE).await();
          assertThat(numbers(whole)).containsExactly(1, 2, 3, 1e-3, 1e-3, 1e-3, 1e-3);
        });
  }

  @Test
  void aScatterTakesTheMemoryOfWhatItReceivesUntilItIsAwaited() {
    // Large beside what other tests of the process take and free meanwhile.
    int slice = 1 << 22;
    amongThree(
        ranks -> {
          var whole = Tensors.zeros(torch.ScalarType.Double, 3L * slice);
          var own = Tensors.empty(torch.ScalarType.Double, slice);
          long before = NativeMemory.liveBytes();
          var slices = RankSlices.even(3L * slice, 3);
          var arrival = ranks.reduceScatter(own, whole, slices, Traffic.EXCHANGE);
          assertThat(NativeMemory.liveBytes() - before).isGreaterThan(2L * slice * 8);
          arrival.await();
          assertThat(NativeMemory.liveBytes() - before).isLessThan(slice * 8L);
          assertThat(own.abs().sum().item_double()).isZero();
        });
  }
}
