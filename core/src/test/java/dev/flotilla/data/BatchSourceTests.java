package dev.flotilla.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BatchSourceTests {

  @ParameterizedTest
  @CsvSource({"1, 1", "7, 3", "64, 64", "100, 7", "101, 10", "1000, 64", "5, 100", "17, 5"})
  void givesEachSampleToOneRankOncePerEpoch(int size, int globalBatch) {
    for (int ranks = 1; ranks <= 5; ranks++) {
      var seen = globalOrder(BatchSource.global(new Numbers(size), globalBatch), 2, ranks);
      assertThat(seen).containsExactlyInAnyOrder(IntStream.range(0, size).toArray());
      seen = globalOrder(BatchSource.perRank(new Numbers(size), globalBatch).shuffled(9), 2, ranks);
      assertThat(seen).containsExactlyInAnyOrder(IntStream.range(0, size).toArray());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4, 5})
  void hasTheSameGlobalOrderWhateverTheNumberOfRanks(int ranks) {
    var source = BatchSource.global(new Numbers(103), 10).shuffled(7);
    assertThat(globalOrder(source, 3, ranks)).containsExactly(globalOrder(source, 3, 1));
  }

  @Test
  void hasTheSameGlobalBatchesForEqualGlobalSizesPerRank() {
    var two = BatchSource.perRank(new Numbers(1000), 32).shuffled(1);
    var one = BatchSource.perRank(new Numbers(1000), 64).shuffled(1);
    assertThat(two.batchesPerEpoch(2)).isEqualTo(one.batchesPerEpoch(1)).isEqualTo(16);
    assertThat(globalBatch(two, 0, 5, 2)).containsExactly(globalBatch(one, 0, 5, 1));
  }

  @Test
  void changesTheOrderWithEpochAndSeedOnly() {
    var source = BatchSource.global(new Numbers(50), 8).shuffled(3);
    var order = globalOrder(source, 0, 1);
    assertThat(globalOrder(source, 1, 1)).isNotEqualTo(order);
    assertThat(globalOrder(source.shuffled(4), 0, 1)).isNotEqualTo(order);
    assertThat(globalOrder(source.shuffled(3), 0, 1)).isEqualTo(order);
  }

  /** The order is part of what a seed promises: a change would alter every recorded run. */
  @Test
  void keepsTheOrderThatASeedHasAlwaysMeant() {
    var source = BatchSource.global(new Numbers(12), 5).shuffled(42);
    assertThat(globalOrder(source, 0, 1)).containsExactly(9, 7, 2, 6, 3, 1, 8, 5, 0, 11, 10, 4);
    assertThat(globalOrder(source, 1, 1)).containsExactly(5, 1, 10, 0, 3, 4, 6, 9, 2, 7, 8, 11);
  }

  @Test
  void keepsTheOrderOfTheDataSetWhenNotShuffled() {
    var source = BatchSource.global(new Numbers(10), 4);
    assertThat(globalOrder(source, 5, 3)).containsExactly(IntStream.range(0, 10).toArray());
  }

  @Test
  void splitsARaggedTailIntoPartsOfNearlyEqualSize() {
    var source = BatchSource.global(new Numbers(10), 8);
    assertThat(sizes(source, 0, 4)).containsExactly(2, 2, 2, 2);
    assertThat(sizes(source, 1, 4)).containsExactly(0, 1, 0, 1);
    assertThat(sizes(BatchSource.global(new Numbers(10), 10), 0, 4)).containsExactly(2, 3, 2, 3);
    assertThat(source.epoch(0, 0, 4).globalSize(0)).isEqualTo(8);
    assertThat(source.epoch(0, 0, 4).globalSize(1)).isEqualTo(2);
  }

  @Test
  void loadsAnEmptyBatchWithoutAskingTheDataSet() {
    var shard = BatchSource.global(new Numbers(1), 4).epoch(0, 0, 2);
    assertThat(shard.samples(0)).isEmpty();
    assertThat(shard.load(0).isEmpty()).isTrue();
    assertThat(shard.load(0).targets().isNull()).isTrue();
  }

  @Test
  void shufflesAllSamplesToAllPlaces() {
    var counts = new int[5][5];
    for (int epoch = 0; epoch < 5000; epoch++) {
      int[] order = EpochOrder.shuffledNumbers(5, 11, epoch);
      IntStream.range(0, 5).forEach(place -> counts[place][order[place]]++);
    }
    assertThat(Arrays.stream(counts).flatMapToInt(Arrays::stream).boxed())
        .allSatisfy(count -> assertThat(count).isBetween(880, 1120));
  }

  @Test
  void refusesWhatCannotBeABatch() {
    assertThatThrownBy(() -> BatchSource.global(new Numbers(3), 0))
        .hasMessage("batch must be at least 1, but was 0");
    assertThatThrownBy(() -> BatchSource.perRank(new Numbers(0), 1)).hasMessageContaining("empty");
    var source = BatchSource.global(new Numbers(3), 1);
    assertThatThrownBy(() -> source.epoch(0, 2, 2).samples(0))
        .hasMessage("rank must be in [0, 2), but was 2");
    assertThatThrownBy(() -> source.epoch(0, 0, 2).samples(3))
        .hasMessage("batch must be in [0, 3), but was 3");
  }

  @Test
  void dropsALastBatchThatIsSmallerThanTheOthers() {
    var source = BatchSource.perRank(new Numbers(11), 2).shuffled(5);
    assertThat(globalOrder(source, 1, 2)).hasSize(11);
    var dropping = source.dropLast();
    assertThat(dropping.batchesPerEpoch(2)).isEqualTo(2);
    assertThat(dropping.epoch(1, 0, 2).batches()).isEqualTo(2);
    assertThat(globalOrder(dropping, 1, 2)).isEqualTo(Arrays.copyOf(globalOrder(source, 1, 2), 8));
    assertThat(BatchSource.global(new Numbers(8), 4).dropLast().batchesPerEpoch(2)).isEqualTo(2);
    assertThatThrownBy(() -> dropping.epoch(0, 0, 6))
        .hasMessageContaining("no batch is full: 12 samples over all ranks are wanted")
        .hasMessageContaining("has 11");
  }

  @Test
  void walksThroughTheEpochs() {
    var cursor = DataCursor.START.next(3).next(3);
    assertThat(cursor).isEqualTo(new DataCursor(0, 2));
    assertThat(cursor.next(3)).isEqualTo(new DataCursor(1, 0));
    assertThatThrownBy(() -> new DataCursor(-1, 0)).hasMessageContaining("-1");
  }

  private static int[] sizes(BatchSource source, long index, int ranks) {
    return IntStream.range(0, ranks)
        .map(rank -> source.epoch(0, rank, ranks).samples(index).length)
        .toArray();
  }

  private static int[] globalOrder(BatchSource source, long epoch, int ranks) {
    return LongStream.range(0, source.batchesPerEpoch(ranks))
        .mapToObj(index -> globalBatch(source, epoch, index, ranks))
        .flatMapToInt(Arrays::stream)
        .toArray();
  }

  private static int[] globalBatch(BatchSource source, long epoch, long index, int ranks) {
    return IntStream.range(0, ranks)
        .flatMap(rank -> Arrays.stream(source.epoch(epoch, rank, ranks).samples(index)))
        .toArray();
  }
}
