package dev.flotilla.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EvaluationShardTests {

  @ParameterizedTest
  @CsvSource({"0, 4", "1, 4", "3, 2", "100, 7", "2000, 64", "64, 64"})
  void evaluatesEachSampleOnceOverAllRanks(int size, int batch) {
    for (int ranks = 1; ranks <= 5; ranks++) {
      assertThat(allSamples(size, batch, ranks))
          .containsExactly(IntStream.range(0, size).toArray());
    }
  }

  @Test
  void loadsNoMoreThanABatchAtOnce() {
    var shard = EvaluationShard.of(new Numbers(10), 3, 0, 2);
    assertThat(shard.size()).isEqualTo(5);
    assertThat(shard.batches()).isEqualTo(2);
    assertThat(shard.samples(0)).containsExactly(0, 1, 2);
    assertThat(shard.samples(1)).containsExactly(3, 4);
    assertThatThrownBy(() -> shard.samples(2)).hasMessage("batch must be in [0, 2), but was 2");
  }

  private static int[] allSamples(int size, int batch, int ranks) {
    return IntStream.range(0, ranks)
        .mapToObj(rank -> EvaluationShard.of(new Numbers(size), batch, rank, ranks))
        .flatMapToInt(EvaluationShardTests::samples)
        .toArray();
  }

  private static IntStream samples(EvaluationShard shard) {
    return LongStream.range(0, shard.batches())
        .mapToObj(shard::samples)
        .flatMapToInt(Arrays::stream);
  }
}
