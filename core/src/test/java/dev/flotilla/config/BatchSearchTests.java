package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.config.BatchFit.Trial;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchSearchTests {

  private final List<Integer> tried = new ArrayList<>();

  private int search(long limit, IntToLongFunction bytes) {
    return new BatchSearch(
            limit,
            batch -> {
              tried.add(batch);
              long peak = bytes.applyAsLong(batch);
              return new Trial(batch, peak <= limit ? peak : 0, 0);
            })
        .run();
  }

  @ParameterizedTest
  @CsvSource({"1000, 10, 90", "1000, 100, 9", "100000, 7, 14271", "1000, 900, 1"})
  void comesWithinAHundredthOfTheLargestBatch(long limit, long perSample, int largest) {
    int found = search(limit, batch -> 100 + perSample * batch);
    assertThat(found).isBetween((int) Math.floor(0.98 * largest), largest);
    assertThat(tried).hasSizeLessThanOrEqualTo(BatchSearch.MOST_TRIALS);
  }

  @Test
  void findsItWhereMemoryIsTakenInSteps() {
    int found = search(10_000, batch -> 500 + Math.ceilDiv(batch, 64) * 700L);
    assertThat(found).isBetween(13 * 64 - 64, 13 * 64);
  }

  @Test
  void findsItWhereASampleTakesMoreInLargeBatches() {
    int found = search(1_000_000, batch -> 1000 + 10L * batch * batch);
    assertThat(found).isBetween(290, 316);
  }

  @Test
  void triesNothingTwiceAndNothingLargerThanWhatDidNotFit() {
    search(5000, batch -> 1000 + 13L * batch);
    assertThat(tried).doesNotHaveDuplicates();
  }

  @Test
  void givesUpWhereNotEvenOneSampleFits() {
    assertThat(search(10, _ -> 11)).isZero();
    assertThat(tried).containsExactly(1);
  }
}
