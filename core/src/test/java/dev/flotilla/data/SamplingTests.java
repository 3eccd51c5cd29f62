package dev.flotilla.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which samples an epoch has, and in which order. */
final class SamplingTests {

  /** Samples that are never loaded, with classes and lengths. */
  private record Known(int size, IntUnaryOperator label, IntUnaryOperator length)
      implements Dataset {

    @Override
    public Batch load(int[] samples) {
      throw new AssertionError("nothing should be loaded");
    }

    @Override
    public int[] labels() {
      return IntStream.range(0, size).map(label).toArray();
    }

    @Override
    public int tokens(int sample) {
      return length.applyAsInt(sample);
    }
  }

  private static List<RankShard> shards(BatchSource source, long epoch, int ranks) {
    return IntStream.range(0, ranks).mapToObj(rank -> source.epoch(epoch, rank, ranks)).toList();
  }

  private static IntStream batch(List<RankShard> shards, long index) {
    return shards.stream().flatMapToInt(shard -> Arrays.stream(shard.samples(index)));
  }

  private static int[] order(BatchSource source, long epoch, int ranks) {
    var shards = shards(source, epoch, ranks);
    return LongStream.range(0, source.batchesPerEpoch(ranks))
        .boxed()
        .flatMapToInt(index -> batch(shards, index))
        .toArray();
  }

  private static double[] weights(int size, IntUnaryOperator weight) {
    return IntStream.range(0, size).mapToDouble(weight::applyAsInt).toArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void everyOrderIsTheSameWhateverTheNumberOfRanks(int ranks) {
    var data = new Known(103, i -> i % 3, i -> 1 + i * 7 % 31);
    var plain = BatchSource.global(data, 10);
    for (var source :
        new BatchSource[] {
          plain.weighted(weights(103, i -> i % 5), 4), plain.stratified(4), plain.byLength(4)
        }) {
      assertThat(order(source, 2, ranks)).isEqualTo(order(source, 2, 1));
      assertThat(order(source, 3, ranks)).isNotEqualTo(order(source, 2, ranks));
      assertThat(order(source.dropLast(), 2, ranks))
          .isEqualTo(Arrays.copyOf(order(source, 2, 1), 100));
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 7})
  void stratifiedAndByLengthHaveEachSampleOnce(long epoch) {
    var data = new Known(1003, i -> i % 10 == 0 ? 1 : 0, i -> 1 + i * 7 % 31);
    int[] all = IntStream.range(0, 1003).toArray();
    var source = BatchSource.perRank(data, 4);
    assertThat(order(source.stratified(1), epoch, 3)).containsExactlyInAnyOrder(all);
    assertThat(order(source.byLength(1), epoch, 3)).containsExactlyInAnyOrder(all);
    assertThat(order(source.byLength(2), epoch, 3))
        .isNotEqualTo(order(source.byLength(1), epoch, 3));
  }

  @Test
  void weightedDrawsComeAsOftenAsTheirWeights() {
    var data = new Known(5, _ -> 0, _ -> 1);
    var source = BatchSource.global(data, 100).weighted(new double[] {0, 1, 2, 0, 5}, 16_000, 3);
    assertThat(source.batchesPerEpoch(2)).isEqualTo(160);
    var counts = new int[5];
    Arrays.stream(order(source, 0, 1)).forEach(sample -> counts[sample]++);
    assertThat(counts[0]).isZero();
    assertThat(counts[3]).isZero();
    // Five standard deviations of a binomial distribution.
    assertThat((double) counts[1]).isCloseTo(2_000, within(5 * Math.sqrt(2_000 * 7 / 8.0)));
    assertThat((double) counts[2]).isCloseTo(4_000, within(5 * Math.sqrt(4_000 * 6 / 8.0)));
    assertThat((double) counts[4]).isCloseTo(10_000, within(5 * Math.sqrt(10_000 * 3 / 8.0)));
  }

  @Test
  void wrongWeightsAreRefused() {
    var source = BatchSource.global(new Known(3, _ -> 0, _ -> 1), 2);
    assertThatThrownBy(() -> source.weighted(new double[] {1, 2}, 0))
        .hasMessage("each sample needs a weight: there are 2 weights and 3 samples");
    assertThatThrownBy(() -> source.weighted(new double[] {1, -2, 3}, 0))
        .hasMessage("weights must be finite and at least 0, but that of sample 1 is -2.0");
    assertThatThrownBy(() -> source.weighted(new double[] {1, 2, Double.NaN}, 0))
        .hasMessageEndingWith("sample 2 is NaN");
    assertThatThrownBy(() -> source.weighted(new double[3], 0))
        .hasMessage("weights must have a finite sum above 0, but all 3 add up to 0.0");
    assertThatThrownBy(() -> source.weighted(new double[] {1, 1, 1}, 0, 0))
        .hasMessage("an epoch must draw at least 1 sample, but draws is 0");
  }

  @Test
  void batchesHaveClassesInTheirProportion() {
    var data = new Known(120, i -> i % 12 < 9 ? 0 : i % 12 < 11 ? 1 : 2, _ -> 1);
    var source = BatchSource.global(data, 12).stratified(9);
    for (int i = 0; i < 10; i++) {
      var counts = new int[3];
      batch(shards(source, 5, 2), i).forEach(it -> counts[data.labels()[it]]++);
      assertThat(counts).containsExactly(9, 2, 1);
    }
  }

  /** Sizes of classes that divide nothing: each prefix is less than one sample from its share. */
  @Test
  void classesOfAnySizeAreSpreadEvenly() {
    int[] sizes = {1, 2, 3, 17, 101, 250, 7, 640};
    var labels =
        IntStream.range(0, sizes.length)
            .flatMap(label -> IntStream.range(0, sizes[label]).map(_ -> label))
            .toArray();
    for (int epoch = 0; epoch < 3; epoch++) {
      int[] order = StratifiedOrder.of(labels, 1, epoch);
      var counts = new int[sizes.length];
      for (int p = 1; p <= order.length; p++) {
        counts[labels[order[p - 1]]]++;
        for (int c = 0; c < sizes.length; c++) {
          assertThat(Math.abs(counts[c] - (double) p * sizes[c] / labels.length)).isLessThan(1);
        }
      }
    }
  }

  @Test
  void batchesByLengthNeedLessPadding() {
    var data = new Known(4000, _ -> 0, i -> 1 + i * 37 % 128);
    var random = BatchSource.global(data, 16).shuffled(1);
    var like = BatchSource.global(data, 16).byLength(1);
    assertThat(padded(random, data)).isGreaterThan(4000 * 115);
    assertThat(padded(like, data)).isLessThan(4000 * 69);
    assertThat(like.epoch(0, 0, 1).globalSize(0)).isEqualTo(16);
  }

  private static long padded(BatchSource source, Dataset data) {
    long sum = 0;
    var shard = source.epoch(0, 0, 1);
    for (long i = 0; i < shard.batches(); i++) {
      int[] samples = shard.samples(i);
      sum += (long) samples.length * Arrays.stream(samples).map(data::tokens).max().orElseThrow();
    }
    return sum;
  }

  /** The order is part of what a seed promises. */
  @Test
  void keepsTheOrdersThatASeedMeans() {
    var data = new Known(10, i -> i % 2, i -> i);
    var plain = BatchSource.global(data, 3);
    assertThat(order(plain.weighted(weights(10, i -> i), 42), 1, 1))
        .containsExactly(9, 8, 8, 5, 9, 9, 8, 8, 4, 8);
    assertThat(order(plain.stratified(42), 1, 1)).containsExactly(0, 3, 4, 1, 2, 7, 8, 5, 6, 9);
    assertThat(order(plain.byLength(42), 1, 1)).containsExactly(3, 4, 5, 6, 7, 8, 0, 1, 2, 9);
  }
}
