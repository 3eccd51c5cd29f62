package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.testkit.RankFailure;
import dev.flotilla.testkit.Ranks;
import java.time.Duration;
import java.util.Arrays;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.global.torch.ScalarType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class GlooCollectiveTests {

  @ParameterizedTest
  @EnumSource(
      value = ScalarType.class,
      names = {"Float", "Double", "Long", "Byte"})
  void everyOperationIsRightForEveryType(ScalarType type) {
    for (int size = 1; size <= 4; size++) {
      Ranks.run(size, group -> checkAllOperations(group, type));
    }
  }

  private static void checkAllOperations(Collective group, ScalarType type) {
    int size = group.size();
    var sum = Tensors.filled(group.rank() + 1, 5, type);
    var max = Tensors.filled(group.rank(), 5, type);
    var broadcast = Tensors.filled(10 + group.rank(), 3, type);
    var gathered = Tensors.filled(99, 2 * size, type);
    var exchanged = Tensors.filled(99, 2 * size, type);

    group.allReduce(sum, Reduction.SUM, Traffic.EXCHANGE).await();
    group.allReduce(max, Reduction.MAX, Traffic.EXCHANGE).await();
    group.broadcast(broadcast, size - 1, Traffic.START).await();
    group.allGather(gathered, Tensors.filled(group.rank(), 2, type), Traffic.EXCHANGE).await();
    var slices = Tensors.counting(20 * group.rank(), 2 * size, type);
    group.allToAll(exchanged, slices, Traffic.EXCHANGE).await();

    assertThat(Tensors.values(sum)).containsOnly(size * (size + 1) / 2.0);
    assertThat(Tensors.values(max)).containsOnly(size - 1);
    assertThat(Tensors.values(broadcast)).containsOnly(10 + size - 1);
    for (int other = 0; other < size; other++) {
      assertThat(pair(Tensors.values(gathered), other)).containsExactly(other, other);
      double first = 20 * other + 2 * group.rank();
      assertThat(pair(Tensors.values(exchanged), other)).containsExactly(first, first + 1);
    }
  }

  private static double[] pair(double[] values, int index) {
    return Arrays.copyOfRange(values, 2 * index, 2 * index + 2);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void sumsAreTheSameOnAllRanksAndInEveryRun(int size) {
    var first = Ranks.call(size, GlooCollectiveTests::oddSum);
    var second = Ranks.call(size, GlooCollectiveTests::oddSum);
    assertThat(first).allSatisfy(bytes -> assertThat(bytes).isEqualTo(first.getFirst()));
    assertThat(second.getFirst()).isEqualTo(first.getFirst());
  }

  private static byte[] oddSum(Collective group) {
    var tensor = Tensors.counting(1, 10_007, ScalarType.Float);
    tensor.mul_(new Scalar(0.1 + group.rank())).sin_();
    group.allReduce(tensor, Reduction.SUM, Traffic.EXCHANGE).await();
    return Tensors.bytes(tensor);
  }

  /** Long tensors travel in pieces, which must fit together again, the short last one too. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void longTensorsAreSummedToTheirEnd(int size) {
    int length = 3 * size * (1 << 18) + 5;
    Ranks.run(
        size,
        group -> {
          var tensor = Tensors.counting(group.rank(), length, ScalarType.Float);
          group.allReduce(tensor.view(1, length), Reduction.SUM, Traffic.EXCHANGE).await();
          var sums = Tensors.values(tensor);
          double ofRanks = size * (size - 1) / 2.0;
          for (int i = 0; i < length; i++) {
            assertThat(sums[i]).isEqualTo((double) size * i + ofRanks);
          }
          assertThat(group.count(Traffic.EXCHANGE).operations()).isEqualTo(1);
        });
  }

  @Test
  void shapesDoNotMatter() {
    Ranks.run(
        2,
        group -> {
          var whole = torch.zeros(2, 2, 3);
          group.allGather(whole, torch.ones(3, 2), Traffic.EXCHANGE).await();
          assertThat(Tensors.values(whole)).containsOnly(1);
        });
  }

  @Test
  void operationsOutliveTheScopeInWhichTheyStart() {
    Ranks.run(
        2,
        group -> {
          var first = Tensors.floats(1, 100_000);
          var second = Tensors.floats(2, 100_000);
          Pending[] pending = new Pending[2];
          try (var _ = TensorScope.open()) {
            pending[0] = group.allReduce(first, Reduction.SUM, Traffic.EXCHANGE);
            pending[1] = group.allReduce(second, Reduction.SUM, Traffic.EXCHANGE);
          }
          pending[1].await();
          pending[0].await();
          pending[0].await();
          assertThat(Tensors.values(first)).containsOnly(2);
          assertThat(Tensors.values(second)).containsOnly(4);
        });
  }

  @Test
  void emptyTensorsAreNotSent() {
    Ranks.run(
        2,
        group -> {
          group.allReduce(torch.zeros(0), Reduction.SUM, Traffic.EXCHANGE).await();
          assertThat(group.count(Traffic.EXCHANGE).operations()).isZero();
        });
  }

  @Test
  void refusesTensorsThatDoNotFit() {
    Ranks.run(
        2,
        group -> {
          assertThatThrownBy(() -> group.allGather(torch.ones(3), torch.ones(2), Traffic.EXCHANGE))
              .isInstanceOf(IllegalArgumentException.class);
          assertThatThrownBy(() -> group.allToAll(torch.ones(3), torch.ones(3), Traffic.EXCHANGE))
              .hasMessageContaining("2 divides");
          assertThatThrownBy(
                  () -> group.allReduce(torch.ones(2, 3).t(), Reduction.SUM, Traffic.EXCHANGE))
              .hasMessageContaining("dense");
          assertThatThrownBy(() -> group.broadcast(torch.ones(1), 2, Traffic.START))
              .hasMessageContaining("[0, 2)");
        });
  }

  @Test
  void subgroupsWorkBesideTheWholeGroup() {
    Ranks.run(
        4,
        group -> {
          var outer = group.subgroup(3, 0);
          var inner = group.subgroup(1, 2);
          boolean isOuter = group.rank() == 0 || group.rank() == 3;
          var own = isOuter ? outer : inner;
          var other = isOuter ? inner : outer;
          assertThat(other.size()).isEqualTo(1);
          assertThat(own.size()).isEqualTo(2);
          assertThat(outer.rank()).isEqualTo(group.rank() == 0 ? 1 : 0);

          var tensor = Tensors.floats(group.rank(), 4);
          own.allReduce(tensor, Reduction.SUM, Traffic.EXCHANGE).await();
          assertThat(Tensors.values(tensor)).containsOnly(3);
          group.allReduce(tensor, Reduction.SUM, Traffic.EXCHANGE).await();
          assertThat(Tensors.values(tensor)).containsOnly(12);
          assertThat(own.count(Traffic.EXCHANGE)).isEqualTo(new TrafficCount(1, 16));
          assertThat(group.count(Traffic.EXCHANGE)).isEqualTo(new TrafficCount(2, 16 + 24));
        });
  }

  @Test
  void countsEachTrafficByTheCostModel() {
    Ranks.run(
        3,
        group -> {
          group.allReduce(Tensors.floats(1, 300), Reduction.SUM, Traffic.EXCHANGE).await();
          group
              .withTimeout(Duration.ofSeconds(5))
              .allReduce(Tensors.floats(1, 3), Reduction.MAX, Traffic.SCALAR)
              .await();
          group.broadcast(Tensors.floats(1, 10), 0, Traffic.START).await();
          assertThat(group.count(Traffic.EXCHANGE)).isEqualTo(new TrafficCount(1, 1600));
          assertThat(group.count(Traffic.SCALAR)).isEqualTo(new TrafficCount(1, 16));
          long sent = group.rank() == 0 ? 80 : 0;
          assertThat(group.count(Traffic.START)).isEqualTo(new TrafficCount(1, sent));
        });
  }

  @Test
  void absentRankIsNamedAtTheTimeout() {
    var failures =
        Ranks.call(
            2,
            group -> {
              if (group.rank() == 1) {
                Thread.sleep(2_700);
                return new CollectiveException("");
              }
              var patient = group.withTimeout(Duration.ofSeconds(2));
              return catchFailure(
                  () ->
                      patient
                          .allReduce(Tensors.floats(1, 1024), Reduction.SUM, Traffic.EXCHANGE)
                          .await());
            });
    assertThat(failures.getFirst())
        .hasMessageContaining("rank 0 on ")
        .hasMessageContaining("all-reduce of 4096 bytes over 2 ranks failed after 2.")
        .hasMessageContaining("timeout 2.0 s")
        .hasMessageContaining("Timed out waiting 2000ms")
        .hasMessageContaining("it concerns rank 1 on ");
    assertThat(failures.getFirst().exitCode()).isEqualTo(5);
  }

  private static CollectiveException catchFailure(Runnable operation) {
    try {
      operation.run();
    } catch (CollectiveException e) {
      return e;
    }
    throw new AssertionError("the operation should have failed");
  }

  @Test
  void failedGroupStaysFailed() {
    var failure =
        catchThrowableOfType(
            RankFailure.class,
            () ->
                Ranks.run(
                    2,
                    group -> {
                      if (group.rank() == 1) {
                        throw new IllegalStateException("thrown by rank 1");
                      }
                      catchFailure(group::barrier);
                      assertThatThrownBy(group::barrier)
                          .isInstanceOf(CollectiveException.class)
                          .hasMessageContaining("the group has failed before");
                    }));
    assertThat(failure.rank()).isEqualTo(1);
    assertThat(failure).hasMessageContaining("thrown by rank 1");
    assertThat(failure.getSuppressed()).isEmpty();
  }

  @Test
  void forgottenOperationIsNamedAfterClosing() {
    var complaints =
        Ranks.call(
            2,
            group -> {
              group.allReduce(Tensors.floats(1, 8), Reduction.SUM, Traffic.EXCHANGE);
              var complaint = catchIllegalState(group::close);
              group.close();
              assertThatThrownBy(group::barrier).hasMessageContaining("was closed");
              return complaint;
            });
    assertThat(complaints)
        .allSatisfy(
            complaint ->
                assertThat(complaint)
                    .hasMessageContaining("never awaited: [all-reduce of 32 bytes]"));
  }

  private static IllegalStateException catchIllegalState(Runnable closing) {
    try {
      closing.run();
    } catch (IllegalStateException e) {
      return e;
    }
    throw new AssertionError("closing should have complained");
  }
}
