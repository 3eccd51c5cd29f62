package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.RecordingCollective;
import java.util.Arrays;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sums and gathers of which every rank has a slice, of any length. */
@Timeout(60)
class SlicedCollectiveTests {

  /** Longer than one message, and some of them empty. */
  private static final long PIECE = 1 << 18;

  private static RankSlices uneven(int ranks) {
    var lengths = new long[ranks];
    Arrays.setAll(lengths, rank -> rank == 1 ? 0 : PIECE * rank + 7);
    return RankSlices.of(lengths);
  }

  @ParameterizedTest
  @EnumSource(
      value = ScalarType.class,
      names = {"Float", "Double", "Long", "Byte"})
  void everyTypeIsSummedAndGathered(ScalarType type) {
    for (int size = 1; size <= 4; size++) {
      Ranks.run(size, group -> checkBoth(group, RankSlices.even(11, group.size()), type));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void slicesMayBeEmptyOrLong(int size) {
    Ranks.run(size, group -> checkBoth(group, uneven(size), ScalarType.Double));
  }

  private static void checkBoth(Collective group, RankSlices slices, ScalarType type) {
    int rank = group.rank();
    var whole = own(slices, type, rank);
    var before = Tensors.bytes(whole);
    var sum = Tensors.filled(99, (int) slices.length(rank), type);
    group.reduceScatter(sum, whole, slices, Traffic.EXCHANGE).await();
    assertThat(Tensors.bytes(whole)).isEqualTo(before);

    var expected = own(slices, type, 0);
    for (int other = 1; other < group.size(); other++) {
      expected.add_(own(slices, type, other));
    }
    assertThat(Tensors.bytes(sum)).isEqualTo(Tensors.bytes(slices.slice(expected, rank).clone()));

    var gathered = Tensors.filled(99, (int) slices.elements(), type);
    group.allGather(gathered, sum, slices, Traffic.EXCHANGE).await();
    assertThat(Tensors.bytes(gathered)).isEqualTo(Tensors.bytes(expected));
  }

  /** Small whole numbers, which no type rounds. */
  private static Tensor own(RankSlices slices, ScalarType type, int rank) {
    return Tensors.counting(0, (int) slices.elements(), ScalarType.Long)
        .remainder(new Scalar(13))
        .add_(new Scalar(rank))
        .to(type);
  }

  @Test
  void aSliceIsGatheredFromItsPlace() {
    var slices = RankSlices.of(2, 0, 3);
    Ranks.run(
        3,
        group -> {
          var whole = Tensors.floats(group.rank() + 1, 5);
          var own = slices.slice(whole, group.rank());
          group.allGather(whole, own, slices, Traffic.EXCHANGE).await();
          assertThat(Tensors.values(whole)).containsExactly(1, 1, 3, 3, 3);
        });
  }

  /** 1 is lost behind 1e8 in float32, so the order can be told from the sum. */
  @Test
  void ranksAreAddedInTheirOrder() {
    var slices = RankSlices.of(1, 1, 1);
    var values = new double[] {1e8, 1, -1e8};
    Ranks.run(
        3,
        group -> {
          var sum = Tensors.floats(0, 1);
          var whole = Tensors.floats(values[group.rank()], 3);
          group.reduceScatter(sum, whole, slices, Traffic.EXCHANGE).await();
          assertThat(Tensors.values(sum)).containsExactly(0);
        });
  }

  @Test
  void severalAreUnderWayAtOnceAndOutliveTheScopeInWhichTheyStart() {
    var slices = uneven(3);
    Ranks.run(
        3,
        group -> {
          int length = (int) slices.length(group.rank());
          var sums = new Tensor[] {Tensors.floats(0, length), Tensors.floats(0, length)};
          var whole = Tensors.floats(1 + group.rank(), (int) slices.elements());
          var pending = new Pending[2];
          try (var _ = TensorScope.open()) {
            for (int i = 0; i < 2; i++) {
              var view = sums[i].view(-1L);
              pending[i] = group.reduceScatter(view, whole, slices, Traffic.EXCHANGE);
            }
          }
          pending[1].await();
          pending[0].await();
          pending[0].await();
          for (var sum : sums) {
            assertThat(Arrays.stream(Tensors.values(sum)).allMatch(value -> value == 6)).isTrue();
          }
        });
  }

  /** Gloo's own reduce-scatter would send what an all-reduce does. */
  @Test
  void bothTogetherCostOneAllReduce() {
    var slices = RankSlices.of(100, 100, 100);
    Ranks.run(
        3,
        group -> {
          var recording = new RecordingCollective(group);
          var whole = Tensors.floats(1, 300);
          var own = Tensors.floats(0, 100);
          recording.reduceScatter(own, whole, slices, Traffic.EXCHANGE).await();
          assertThat(group.count(Traffic.EXCHANGE)).isEqualTo(new TrafficCount(1, 800));
          recording.allGather(whole, own, slices, Traffic.EXCHANGE).await();
          assertThat(group.count(Traffic.EXCHANGE))
              .isEqualTo(new TrafficCount(2, CostModel.allReduce(3, 1200)));
          assertThat(recording.calls(Traffic.EXCHANGE))
              .extracting(RecordingCollective.Call::kind, RecordingCollective.Call::elements)
              .containsExactly(
                  org.assertj.core.groups.Tuple.tuple(
                      RecordingCollective.Kind.REDUCE_SCATTER, 300L),
                  org.assertj.core.groups.Tuple.tuple(RecordingCollective.Kind.ALL_GATHER, 300L));
        });
  }

  @Test
  void slicesThatDoNotFitAreRefusedBeforeAnythingIsSent() {
    Ranks.run(
        2,
        group -> {
          var own = Tensors.floats(0, 2);
          var whole = Tensors.floats(0, 5);
          for (var slices : new RankSlices[] {RankSlices.of(2, 2), RankSlices.of(2, 2, 1)}) {
            assertThatThrownBy(() -> group.reduceScatter(own, whole, slices, Traffic.EXCHANGE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a tensor of 5 elements and its own slice of 2");
            assertThatThrownBy(() -> group.allGather(whole, own, slices, Traffic.EXCHANGE))
                .isInstanceOf(IllegalArgumentException.class);
          }
          assertThat(group.count(Traffic.EXCHANGE).operations()).isZero();
        });
    assertThatThrownBy(() -> RankSlices.of(1, -1)).hasMessageContaining("[1, -1]");
    assertThatThrownBy(RankSlices::of).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void evenSlicesDifferByOneAtMost() {
    var slices = RankSlices.even(11, 4);
    assertThat(slices.ranks()).isEqualTo(4);
    assertThat(slices.elements()).isEqualTo(11);
    var lengths = new long[4];
    Arrays.setAll(lengths, slices::length);
    assertThat(lengths).containsExactly(3, 3, 3, 2);
    assertThat(slices.offset(3)).isEqualTo(9);
  }
}
