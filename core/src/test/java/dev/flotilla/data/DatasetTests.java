package dev.flotilla.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Data of a program's own objects, and what is made of data sets. */
final class DatasetTests {

  private record Point(float x, float y, int colour) {

    float[] features() {
      return new float[] {x, y};
    }
  }

  private static List<Point> points(int count) {
    return IntStream.range(0, count).mapToObj(i -> new Point(i, -i, i % 3)).toList();
  }

  private static Dataset dataset(int count) {
    return Dataset.of(points(count), Point::features, Point::colour, 3);
  }

  /** Returns the first number of each sample, by which the points are known. */
  private static List<Integer> read(Dataset data, int... samples) {
    try (var _ = TensorScope.open()) {
      var inputs = data.load(samples).inputs().getFirst();
      List<Integer> seen = new ArrayList<>();
      for (float x : Tensors.toFloats(inputs.select(1, 0))) {
        seen.add((int) x);
      }
      return seen;
    }
  }

  private static List<Integer> readAll(Dataset data) {
    return read(data, IntStream.range(0, data.size()).toArray());
  }

  @Test
  void objectsBecomeFeaturesAndLabels() {
    try (var _ = TensorScope.open()) {
      var batch = dataset(7).load(new int[] {5, 0, 4});
      assertThat(batch.samples()).isEqualTo(3);
      assertThat(batch.inputs().getFirst().size(0)).isEqualTo(3);
      assertThat(Tensors.toFloats(batch.inputs().getFirst())).containsExactly(5, -5, 0, 0, 4, -4);
      assertThat(Tensors.toLongs(batch.targets())).containsExactly(2, 0, 1);
    }
    assertThat(dataset(7).labels()).containsExactly(0, 1, 2, 0, 1, 2, 0);
  }

  @Test
  void objectsBecomeNumbersForRegression() {
    var data =
        Dataset.ofTargets(points(4), Point::features, it -> new float[] {it.x() * 2, it.y() * 3});
    try (var _ = TensorScope.open()) {
      var targets = data.load(new int[] {3, 1}).targets();
      assertThat(targets.size(1)).isEqualTo(2);
      assertThat(Tensors.toFloats(targets)).containsExactly(6, -9, 2, -3);
    }
  }

  @Test
  void objectsBecomeSeveralInputsAndTargets() {
    var encoding =
        Encoding.<Point>empty()
            .input(Point::features)
            .input(it -> new float[] {it.x(), 1, 2, 3}, 2, 2)
            .tokens(it -> LongTokens.upTo((int) it.x()), -1)
            .label(Point::colour)
            .target(it -> new float[] {it.y()});
    var data = Dataset.of(points(4), encoding);
    try (var _ = TensorScope.open()) {
      var batch = data.load(new int[] {2, 0});
      assertThat(batch.inputs()).hasSize(3);
      assertThat(batch.inputs().get(1).dim()).isEqualTo(3);
      assertThat(Tensors.toFloats(batch.inputs().get(1))).containsExactly(2, 1, 2, 3, 0, 1, 2, 3);
      assertThat(Tensors.toLongs(batch.inputs().get(2))).containsExactly(0, 1, 2, 0, -1, -1);
      assertThat(Tensors.toLongs(batch.withTarget(0).targets())).containsExactly(2, 0);
      assertThat(Tensors.toFloats(batch.withTarget(1).targets())).containsExactly(-2, 0);
    }
    assertThat(data.tokens(3)).isEqualTo(4);
  }

  private static final class LongTokens {
    static long[] upTo(int last) {
      return IntStream.rangeClosed(0, last).asLongStream().toArray();
    }
  }

  @Test
  void wrongObjectsAreNamed() {
    assertThatThrownBy(() -> Dataset.of(List.<Point>of(), Point::features, Point::colour))
        .hasMessage("a data set needs at least one sample, but the list is empty");
    assertThatThrownBy(() -> Dataset.of(points(5), Point::features, Point::colour, 2))
        .hasMessage("the label of sample 2 must be in [0, 2), the number of a class, but was 2");
    assertThatThrownBy(() -> Dataset.of(points(5), Point::features, it -> 1 - it.colour()))
        .hasMessage("the label of sample 2 must be at least 0, but was -1");
    assertThatThrownBy(() -> Dataset.of(points(5), Encoding.<Point>empty().label(Point::colour)))
        .hasMessageContaining("needs an input and a target, but has 0 inputs and 1 targets");
    var ragged = Dataset.of(points(5), it -> new float[it.x() < 3 ? 2 : 4], Point::colour);
    try (var _ = TensorScope.open()) {
      assertThatThrownBy(() -> ragged.load(new int[] {1, 3}))
          .hasMessage(
              "the input of sample 3 has 4 numbers, but 2 are expected, as the first one has: give"
                  + " all samples as many");
      var failing = Dataset.of(points(5), DatasetTests::featuresOrFailure, Point::colour);
      assertThatThrownBy(() -> failing.load(new int[] {4}))
          .hasMessage("the input of sample 4 cannot be made: no features");
    }
  }

  private static float[] featuresOrFailure(Point point) {
    if (point.x() == 4) {
      throw new IllegalStateException("no features");
    }
    return point.features();
  }

  @Test
  void aSplitHasEachSampleOnceAndIsAFunctionOfTheSeed() {
    var parts = dataset(100).split(5, 0.7, 0.2, 0.1);
    assertThat(parts).extracting(Dataset::size).containsExactly(70, 20, 10);
    var all = parts.stream().flatMap(part -> readAll(part).stream()).toList();
    assertThat(all).containsExactlyInAnyOrderElementsOf(IntStream.range(0, 100).boxed().toList());
    assertThat(readAll(parts.getFirst())).isSorted();
    assertThat(readAll(dataset(100).split(5, 0.7, 0.2, 0.1).get(1)))
        .isEqualTo(readAll(parts.get(1)));
    assertThat(readAll(dataset(100).split(6, 0.7, 0.2, 0.1).get(1)))
        .isNotEqualTo(readAll(parts.get(1)));
  }

  @Test
  void aStratifiedSplitHasEachClassInEachPart() {
    List<Point> rare =
        IntStream.range(0, 200).mapToObj(i -> new Point(i, 0, i % 20 == 0 ? 1 : 0)).toList();
    var parts = Dataset.of(rare, Point::features, Point::colour).splitStratified(3, 0.8, 0.2);
    assertThat(parts).extracting(Dataset::size).containsExactly(160, 40);
    assertThat(Arrays.stream(parts.getFirst().labels()).sum()).isEqualTo(8);
    assertThat(Arrays.stream(parts.getLast().labels()).sum()).isEqualTo(2);
  }

  @Test
  void fractionsThatDoNotFitAreRefused() {
    assertThatThrownBy(() -> dataset(10).split(1, 0.5, 0.4))
        .hasMessage(
            "fractions must be above 0 and add up to 1, but are [0.5, 0.4], with a sum of 0.9");
    assertThatThrownBy(() -> dataset(10).split(1, 1.5, -0.5)).hasMessageContaining("above 0");
    assertThatThrownBy(() -> dataset(3).split(1, 0.9, 0.1))
        .hasMessage(
            "part 1 would be empty: a fraction of 0.1 of 3 samples; make it larger, or leave it"
                + " out");
    assertThatThrownBy(() -> dataset(3).subset(0, 3))
        .hasMessage("samples must be in [0, 3), but one is 3");
  }

  @Test
  void mapChangesSamplesOneByOne() {
    var doubled = dataset(6).map(it -> new Batch(List.of(twice(it)), it.targets(), it.samples()));
    assertThat(read(doubled, 5, 2, 2)).containsExactly(10, 4, 4);
    assertThat(doubled.labels()).containsExactly(0, 1, 2, 0, 1, 2);
    var failing =
        dataset(6)
            .map(
                it -> {
                  if (Tensors.toFloats(it.inputs().getFirst())[0] == 3) {
                    throw new IllegalStateException("three");
                  }
                  return it;
                });
    try (var _ = TensorScope.open()) {
      assertThatThrownBy(() -> failing.load(new int[] {1, 3}))
          .hasMessage("map failed for sample 3: three");
      var uneven = dataset(6).map(DatasetTests::cutIfOdd);
      assertThatThrownBy(() -> uneven.load(new int[] {2, 3}))
          .hasMessage(
              "samples of a batch must be alike, but sample 2 has inputs [Float[2]] and targets"
                  + " [Long[]] and sample 3 has inputs [Float[1]] and targets [Long[]]");
    }
  }

  private static org.bytedeco.pytorch.Tensor twice(Batch batch) {
    var input = batch.inputs().getFirst();
    return input.add(input);
  }

  private static Batch cutIfOdd(Batch batch) {
    var input = batch.inputs().getFirst();
    boolean isOdd = (int) Tensors.toFloats(input)[0] % 2 == 1;
    return isOdd ? new Batch(List.of(input.narrow(1, 0, 1)), batch.targets(), 1) : batch;
  }

  @Test
  void filterKeepsSomeSamples() {
    var some = dataset(600).filter(it -> Tensors.toLongs(it.targets())[0] == 1);
    assertThat(some.size()).isEqualTo(200);
    assertThat(read(some, 0, 1, 199)).containsExactly(1, 4, 598);
    assertThatThrownBy(() -> dataset(10).filter(_ -> false))
        .hasMessage("filter leaves none of 10 samples: look at what it asks for");
  }

  @Test
  void concatNumbersOneSetAfterTheOther() {
    var both = dataset(4).concat(dataset(3), dataset(2).subset(1));
    assertThat(both.size()).isEqualTo(8);
    assertThat(readAll(both)).containsExactly(0, 1, 2, 3, 0, 1, 2, 1);
    assertThat(read(both, 7, 3, 6, 0, 4)).containsExactly(1, 3, 2, 0, 0);
    assertThat(read(both, 5, 4)).containsExactly(1, 0);
    assertThat(both.labels()).containsExactly(0, 1, 2, 0, 0, 1, 2, 1);
    var others = Dataset.of(points(2), _ -> new float[3], Point::colour);
    try (var _ = TensorScope.open()) {
      assertThatThrownBy(() -> dataset(2).concat(others).load(new int[] {1, 2}))
          .hasMessageContaining("sample 1 has inputs [Float[2]]")
          .hasMessageContaining("sample 2 has inputs [Float[3]]");
    }
  }

  @Test
  void aCachedSampleIsMadeOnce() {
    var made = new AtomicInteger();
    var data =
        Dataset.of(
                points(5),
                it -> {
                  made.incrementAndGet();
                  return it.features();
                },
                Point::colour)
            .cached();
    int before = made.get();
    assertThat(read(data, 3, 1, 3)).containsExactly(3, 1, 3);
    assertThat(read(data, 1, 2)).containsExactly(1, 2);
    assertThat(readAll(data)).containsExactly(0, 1, 2, 3, 4);
    assertThat(readAll(data)).containsExactly(0, 1, 2, 3, 4);
    assertThat(made.get() - before).isEqualTo(5);
  }

  /** Nothing that is made of a data set may hide that some of its samples are damaged. */
  @Test
  void damagedSamplesAreCountedThroughEverything() {
    var damaged = new Damaged(10, BitSet.valueOf(new long[] {0b1000100100}));
    assertThat(damaged.subset(9, 5, 4, 2).damaged()).contains(BitSet.valueOf(new long[] {0b1011}));
    assertThat(damaged.map(it -> it).cached().damaged()).isEqualTo(damaged.damaged());
    assertThat(dataset(3).concat(damaged).damaged())
        .contains(BitSet.valueOf(new long[] {0b1000100100000}));
    assertThat(dataset(3).concat(dataset(2)).damaged()).isEmpty();
  }

  private record Damaged(int size, BitSet samples) implements Dataset {

    @Override
    public Batch load(int[] numbers) {
      throw new AssertionError("nothing should be loaded");
    }

    @Override
    public Optional<BitSet> damaged() {
      return Optional.of(samples);
    }
  }

  @Test
  void whatChangesByEpochIsNotCached() {
    var augmented =
        new Dataset() {
          @Override
          public int size() {
            return 1;
          }

          @Override
          public Batch load(int[] samples) {
            return Batch.empty();
          }

          @Override
          public boolean changesByEpoch() {
            return true;
          }
        };
    assertThatThrownBy(augmented::cached).hasMessageContaining("cannot be cached");
    assertThatThrownBy(() -> augmented.subset(0).concat(augmented).cached())
        .hasMessageContaining("cannot be cached");
  }
}
