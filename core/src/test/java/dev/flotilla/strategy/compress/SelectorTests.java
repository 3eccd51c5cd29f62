package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SelectorTests {

  private static final int LENGTH = 20_000;

  private final Playground ground = new Playground(LENGTH);
  private final List<Field> fields = ground.fields(0);
  private final long elements = fields.stream().mapToLong(Field::length).sum();

  private int[] choose(Selector selector, int k, int threshold) {
    selector.allocate(k, elements);
    var found = selector.candidates();
    found.clear();
    fields.forEach(field -> found.scan(field, threshold));
    selector.choose(fields, elements, k, threshold);
    return Arrays.copyOf(found.indices(), found.count());
  }

  private int[] largest(int k) {
    var residual = Playground.copy(ground.residual());
    return fields.stream()
        .flatMap(field -> IntStream.range(field.start(), field.start() + field.length()).boxed())
        .filter(index -> residual[index] != 0)
        .sorted(
            Comparator.<Integer>comparingInt(index -> -TopKeys.key(residual[index]))
                .thenComparing(Comparator.naturalOrder()))
        .limit(k)
        .mapToInt(Integer::intValue)
        .sorted()
        .toArray();
  }

  private void residuals(IntToDoubleFunction value) {
    Playground.fill(ground.residual(), value);
  }

  private void normalResiduals() {
    var random = new SplittableRandom(5);
    residuals(_ -> random.nextGaussian());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 50, 499, 5_000, 19_979, 19_980})
  void exactSelectionIsWhatSortingFinds(int k) {
    normalResiduals();
    for (float start : new float[] {0, 1, 3.29f, 100, Float.POSITIVE_INFINITY}) {
      int[] chosen = choose(new Selector(Selection.EXACT), k, TopKeys.key(start));
      assertThat(chosen).isEqualTo(largest(k));
    }
  }

  @Test
  void sampledSelectionTakesTheLargestAndAtLeastFourFifthsOfThem() {
    normalResiduals();
    for (int k : new int[] {50, 500, 2_000}) {
      for (float start : new float[] {0, 1, 3.29f, Float.POSITIVE_INFINITY}) {
        int[] chosen = choose(new Selector(Selection.SAMPLED), k, TopKeys.key(start));
        assertThat(chosen.length).isBetween(k * 4 / 5, k);
        assertThat(chosen).isEqualTo(largest(chosen.length));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Selection.class)
  void equalResidualsDoNotStopIt(Selection selection) {
    residuals(_ -> 0.25);
    int[] chosen = choose(new Selector(selection), 500, Selector.NO_THRESHOLD);
    assertThat(chosen).isEqualTo(largest(500)).hasSize(500);
  }

  @ParameterizedTest
  @EnumSource(Selection.class)
  void zerosAreNeverChosen(Selection selection) {
    residuals(i -> i % 1000 == 7 ? 1e-30 : 0);
    int[] chosen = choose(new Selector(selection), 500, Selector.NO_THRESHOLD);
    assertThat(chosen).isEqualTo(largest(500)).hasSizeLessThan(30);
    residuals(_ -> 0);
    assertThat(choose(new Selector(selection), 500, Selector.NO_THRESHOLD)).isEmpty();
  }

  @Test
  void aThresholdIsUsedAgainAsLongAsItIsGood() {
    var random = new SplittableRandom(9);
    var selector = new Selector(Selection.SAMPLED);
    selector.allocate(500, elements);
    int threshold = Selector.NO_THRESHOLD;
    for (int step = 0; step < 20; step++) {
      residuals(_ -> random.nextGaussian());
      var found = selector.candidates();
      found.clear();
      for (var field : fields) {
        found.scan(field, threshold);
      }
      threshold = selector.choose(fields, elements, 500, threshold);
    }
    assertThat(selector.rescans()).isEqualTo(1);
  }
}
