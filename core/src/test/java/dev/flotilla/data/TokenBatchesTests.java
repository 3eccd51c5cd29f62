package dev.flotilla.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.settings.ConfigException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class TokenBatchesTests {

  private static final int BUDGET = 40;

  /** Sequences of 1 to 17 tokens. */
  private record Texts(int size) implements Dataset {

    @Override
    public Batch load(int[] samples) {
      throw new AssertionError("nothing should be loaded");
    }

    @Override
    public boolean countsTokens() {
      return true;
    }

    @Override
    public int tokens(int sample) {
      return 1 + sample * 7 % 17;
    }
  }

  private static final Texts TEXTS = new Texts(101);

  @Test
  void fillsEachBatchUpToTheTokensWithPadding() {
    var shard = BatchSource.global(TEXTS, BUDGET).shuffled(3).epoch(0, 0, 1);
    for (long i = 0; i < shard.batches(); i++) {
      assertThat(padded(shard.samples(i))).isBetween(1, BUDGET);
    }
    var inOrder = BatchSource.global(TEXTS, BUDGET).epoch(0, 0, 1);
    int[] first = inOrder.samples(0);
    int[] oneMore = IntStream.rangeClosed(0, first.length).toArray();
    assertThat(first).isEqualTo(IntStream.range(0, first.length).toArray());
    assertThat(padded(oneMore)).isGreaterThan(BUDGET);
  }

  private static int padded(int[] samples) {
    return samples.length * Arrays.stream(samples).map(TEXTS::tokens).max().orElseThrow();
  }

  @Test
  void seesEachSampleOnceInEveryEpochWithTheSameNumberOfBatches() {
    var source = BatchSource.global(TEXTS, BUDGET).shuffled(3);
    var first = samples(source, 0, 1);
    var second = samples(source, 1, 1);
    assertThat(first).hasSize(101).doesNotHaveDuplicates().isNotEqualTo(second);
    assertThat(second).containsExactlyInAnyOrderElementsOf(first);
    assertThat(source.epoch(1, 0, 1).batches()).isEqualTo(source.batchesPerEpoch(1));
  }

  @Test
  void dividesTheSameBatchesOverAnyNumberOfRanks() {
    var source = BatchSource.global(TEXTS, BUDGET).shuffled(3);
    assertThat(samples(source, 4, 3)).isEqualTo(samples(source, 4, 1));
  }

  @Test
  void namesTheSampleThatDoesNotFit() {
    var source = BatchSource.global(TEXTS, 16);
    assertThatThrownBy(() -> source.epoch(0, 0, 1))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("must be at least 17 tokens, the length of sample 12, but was 16");
  }

  private static List<Integer> samples(BatchSource source, long epoch, int ranks) {
    List<Integer> samples = new ArrayList<>();
    for (long i = 0; i < source.batchesPerEpoch(ranks); i++) {
      for (int rank = 0; rank < ranks; rank++) {
        Arrays.stream(source.epoch(epoch, rank, ranks).samples(i)).forEach(samples::add);
      }
    }
    return samples;
  }
}
