package dev.flotilla.collective;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CostModelTests {

  @Test
  void ringAllReduceSendsAlmostTwiceTheData() {
    assertThat(CostModel.allReduce(2, 1000)).isEqualTo(1000);
    assertThat(CostModel.allReduce(4, 1000)).isEqualTo(1500);
  }

  @Test
  void allGatherSendsEveryPartButOne() {
    assertThat(CostModel.allGather(4, 100)).isEqualTo(300);
  }

  @Test
  void aReduceScatterSendsAllSlicesButItsOwn() {
    assertThat(CostModel.reduceScatter(1000, 300)).isEqualTo(700);
  }

  @Test
  void allToAllKeepsOwnSlice() {
    assertThat(CostModel.allToAll(4, 1000)).isEqualTo(750);
  }

  @Test
  void rootOfBroadcastSendsOncePerRound() {
    assertThat(CostModel.broadcast(2, 0, 0, 10)).isEqualTo(10);
    assertThat(CostModel.broadcast(5, 3, 3, 10)).isEqualTo(30);
  }

  @Test
  void broadcastReachesEveryOtherRankOnce() {
    for (int size = 2; size < 20; size++) {
      int ranks = size;
      long sends =
          IntStream.range(0, ranks).mapToLong(rank -> CostModel.broadcast(ranks, rank, 1, 1)).sum();
      assertThat(sends).isEqualTo(ranks - 1);
    }
  }

  @Test
  void largeWorldsDoNotOverflow() {
    assertThat(CostModel.allReduce(1000, 4_000_000_000L)).isEqualTo(7_992_000_000L);
  }
}
