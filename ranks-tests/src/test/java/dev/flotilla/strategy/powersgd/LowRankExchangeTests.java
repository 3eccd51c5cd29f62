package dev.flotilla.strategy.powersgd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Layout;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.collective.Collective;
import dev.flotilla.collective.Traffic;
import dev.flotilla.exchange.BucketPlan;
import dev.flotilla.exchange.WindowExchange;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Shape;
import dev.flotilla.testkit.Ranks;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What ranks get, keep and send, with gradients that are made by hand. */
class LowRankExchangeTests {

  private static final List<ParameterSpec> PARAMETERS =
      List.of(
          weight("tall", 48, 20),
          weight("bias", 48),
          weight("wide", 10, 64),
          weight("convolution", 12, 6, 3, 3),
          weight("square", 24, 24));

  private static ParameterSpec weight(String name, long... extents) {
    return ParameterSpec.weight(name, Shape.of(extents), 8);
  }

  /** All matrices at their full rank, whether that pays or not. */
  private static final PowerSgd FULL = new PowerSgd(1000).minCompression(0);

  /** What one rank adds to an update. */
  @FunctionalInterface
  private interface Source {
    double[] gradient(Layout layout, int update, int rank);
  }

  /** One rank with its memory. */
  private static final class Rank implements AutoCloseable {

    private final Collective collective;
    private final Layout layout;
    private final ParameterArena arena;
    private final LowRankExchange exchange;
    private final WindowExchange windows;

    Rank(Collective collective, PowerSgd settings, Precision precision, int buckets) {
      this.collective = collective;
      layout = Layout.of(PARAMETERS, precision);
      arena = new ParameterArena(layout);
      exchange = new LowRankExchange(settings, arena.gradients(), collective, _ -> {});
      windows =
          new WindowExchange(
              exchange,
              plan(layout, buckets),
              Optional.empty(),
              arena,
              false,
              false,
              totals -> 1.0 / totals.count(),
              _ -> {});
    }

    private static BucketPlan plan(Layout layout, int buckets) {
      if (buckets == 1) {
        return BucketPlan.whole(layout);
      }
      long cut = layout.slots().get(3).offset();
      var ranges = List.of(new Bucket.Range(cut, layout.length() - cut), new Bucket.Range(0, cut));
      var two = Bucket.of(layout, ranges);
      return () -> two;
    }

    /** Reduces a gradient, as the sum over one loss term of each rank. */
    double[] reduce(double[] own) {
      try (var _ = TensorScope.open()) {
        var gradients = arena.gradients();
        gradients.values().copy_(Tensors.ofDoubles(own));
        gradients.addLoss(Tensors.ofDoubles(0.5).squeeze(), 1);
        gradients.sealTotals();
        windows.begin();
        assertThat(windows.finish().count()).isEqualTo(collective.size());
        windows.leave();
        var reduced = values();
        gradients.clear();
        return reduced;
      }
    }

    private double[] values() {
      var all = arena.gradients().values().to(torch.ScalarType.Double);
      return NativeView.of(all).toArray(ValueLayout.JAVA_DOUBLE);
    }

    /** Returns what this rank keeps, and leaves nothing of it. */
    double[] takeKept() {
      try (var _ = TensorScope.open()) {
        arena.gradients().values().zero_();
        exchange.matrices().forEach(matrix -> matrix.deliver(0));
        return values();
      }
    }

    @Override
    public void close() {
      windows.close();
      arena.close();
    }
  }

  /** Numbers in all places of the parameters, and zeros in the gaps between them. */
  private static double[] random(Layout layout, long seed) {
    var random = new SplittableRandom(seed);
    var values = new double[(int) layout.length()];
    for (var slot : layout.slots()) {
      for (int i = 0; i < slot.length(); i++) {
        values[(int) slot.offset() + i] = (float) random.nextDouble(-1, 1);
      }
    }
    return values;
  }

  /** The same, but with all matrices of a rank. */
  private static double[] ofRank(Layout layout, int rank, long seed) {
    var values = random(layout, seed);
    var random = new SplittableRandom(seed);
    for (var slot : layout.slots()) {
      int rows = (int) (long) slot.spec().shape().dimensions().getFirst();
      int columns = (int) slot.length() / rows;
      var left = random.doubles((long) rows * rank, -1, 1).toArray();
      var right = random.doubles((long) columns * rank, -1, 1).toArray();
      for (int i = 0; i < slot.length() && columns > 1; i++) {
        double sum = 0;
        for (int k = 0; k < rank; k++) {
          sum += left[i / columns * rank + k] * right[i % columns * rank + k];
        }
        values[(int) slot.offset() + i] = (float) sum;
      }
    }
    return values;
  }

  private static double[] mean(List<double[]> all) {
    return Arrays.stream(sum(all)).map(value -> value / all.size()).toArray();
  }

  private static double[] sum(List<double[]> all) {
    var sum = new double[all.getFirst().length];
    all.forEach(one -> Arrays.setAll(sum, i -> sum[i] + one[i]));
    return sum;
  }

  private static double largest(double[] values) {
    return Arrays.stream(values).map(Math::abs).max().orElse(0);
  }

  private static double distance(double[] ours, double[] theirs) {
    double worst = 0;
    for (int i = 0; i < ours.length; i++) {
      worst = Math.max(worst, Math.abs(ours[i] - theirs[i]));
    }
    return worst;
  }

  private static List<double[]> gradients(Source source, int update, int ranks) {
    var layout = Layout.of(PARAMETERS, Precision.FLOAT32);
    List<double[]> all = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      all.add(source.gradient(layout, update, rank));
    }
    return all;
  }

  /** Runs some updates and returns what the first rank got, after all ranks got the same bits. */
  private static List<double[]> reduced(
      int ranks, int updates, PowerSgd settings, Precision precision, Source source) {
    var all =
        Ranks.call(
            ranks,
            collective -> {
              try (var rank = new Rank(collective, settings, precision, 2)) {
                List<double[]> got = new ArrayList<>();
                for (int i = 0; i < updates; i++) {
                  got.add(rank.reduce(source.gradient(rank.layout, i, collective.rank())));
                }
                return got;
              }
            });
    for (int i = 0; i < updates; i++) {
      for (var other : all) {
        assertThat(other.get(i)).isEqualTo(all.getFirst().get(i));
      }
    }
    return all.getFirst();
  }

  /** Full rank, then less, then nothing, then one rank only, and full rank again. */
  private static double[] ofAllKinds(Layout layout, int update, int rank) {
    long seed = 10L * update + rank;
    return switch (update) {
      case 1 -> ofRank(layout, 1, 77);
      case 2 -> ofRank(layout, 2, seed);
      case 3 -> new double[(int) layout.length()];
      case 4 -> rank == 1 ? ofRank(layout, 3, seed) : new double[(int) layout.length()];
      default -> random(layout, seed);
    };
  }

  @ParameterizedTest
  @CsvSource({"2, true", "3, true", "2, false"})
  void atFullRankItIsTheDenseMean(int ranks, boolean isWarm) {
    var settings = new PowerSgd(1000, 0, isWarm, 0);
    var got = reduced(ranks, 8, settings, Precision.FLOAT32, LowRankExchangeTests::ofAllKinds);
    for (int i = 0; i < got.size(); i++) {
      var mean = mean(gradients(LowRankExchangeTests::ofAllKinds, i, ranks));
      double scale = largest(mean) == 0 ? 1 : largest(mean);
      assertThat(distance(got.get(i), mean)).as("update %d", i).isLessThan(1e-5 * scale);
    }
  }

  /** What changes by its size alone; other row spaces are found in a few updates. */
  @Test
  void whatHasLowRankComesThrough() {
    Source source =
        (layout, update, _) ->
            Arrays.stream(ofRank(layout, 2, 7))
                .map(value -> (float) (value / (1 + update)))
                .toArray();
    var got = reduced(2, 4, new PowerSgd(2).minCompression(0), Precision.FLOAT32, source);
    for (int i = 0; i < got.size(); i++) {
      var mean = mean(gradients(source, i, 2));
      assertThat(distance(got.get(i), mean)).as("update %d", i).isLessThan(1e-5 * largest(mean));
    }
  }

  @Test
  void float64IsComputedInFloat64() {
    Source source = (layout, update, rank) -> random(layout, 10L * update + rank);
    var got = reduced(2, 3, FULL, Precision.FLOAT64, source);
    for (int i = 0; i < got.size(); i++) {
      var mean = mean(gradients(source, i, 2));
      assertThat(distance(got.get(i), mean)).isLessThan(1e-13 * largest(mean));
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 1, 1, true", "2, 10, 2, true", "3, 10, 1, true", "3, 10, 2, false"})
  void nothingIsLost(int ranks, int updates, int rankOfFactors, boolean isWarm) {
    var settings = new PowerSgd(rankOfFactors, 0, isWarm, 0);
    record Ended(List<double[]> got, Supplier<double[]> kept) {}
    Source source = (layout, update, rank) -> random(layout, 100L * update + rank);
    var all =
        Ranks.call(
            ranks,
            collective -> {
              try (var rank = new Rank(collective, settings, Precision.FLOAT32, 1)) {
                List<double[]> got = new ArrayList<>();
                for (int i = 0; i < updates; i++) {
                  got.add(rank.reduce(source.gradient(rank.layout, i, collective.rank())));
                }
                var kept = rank.takeKept();
                return new Ended(got, () -> kept);
              }
            });
    List<double[]> cameIn = new ArrayList<>();
    for (int i = 0; i < updates; i++) {
      cameIn.add(mean(gradients(source, i, ranks)));
    }
    var keptOrSent = new ArrayList<>(all.stream().map(it -> it.kept().get()).toList());
    keptOrSent.addAll(all.getFirst().got());
    double error = distance(sum(keptOrSent), sum(cameIn)) / largest(sum(cameIn));
    assertThat(error).isLessThan(1e-6);
    assertThat(largest(all.getFirst().kept().get())).isGreaterThan(0.01);
  }

  @ParameterizedTest
  @CsvSource({"2, 1", "2, 2", "3, 2"})
  void theBytesAreThoseOfTheFormula(int ranks, int buckets) {
    var settings = new PowerSgd(2);
    Source source = (layout, update, rank) -> random(layout, 10L * update + rank);
    Ranks.run(
        ranks,
        collective -> {
          try (var rank = new Rank(collective, settings, Precision.FLOAT32, buckets)) {
            rank.reduce(source.gradient(rank.layout, 0, collective.rank()));
            var before = collective.count(Traffic.EXCHANGE);
            rank.reduce(source.gradient(rank.layout, 1, collective.rank()));
            var after = collective.count(Traffic.EXCHANGE);
            var cost = FactorCost.of(rank.layout, settings, ranks);
            assertThat(after.operations() - before.operations()).isEqualTo(2L * buckets);
            // Whole bytes are counted for each all-reduce.
            assertThat((double) (after.bytesSent() - before.bytesSent()))
                .isCloseTo(cost.sentBytes(), within(2.0 * buckets));
          }
        });
    // The convolution is 12 x 54, and "wide" would be less than halved with 10 x 64 / (2 * 74).
    var cost = FactorCost.of(Layout.of(PARAMETERS, Precision.FLOAT32), settings, ranks);
    long sent = 2 * (48 + 20) + 48 + 2 * (10 + 64) + 2 * (12 + 54) + 2 * (24 + 24);
    assertThat(cost.sent()).isEqualTo(sent);
    assertThat(cost.matrices()).isEqualTo(4);
    assertThat(cost.sentBytes()).isEqualTo(2.0 * (ranks - 1) / ranks * 4 * sent);
  }

  /**
   * A gradient that stays the same, with nothing kept in between: power iteration finds its best
   * approximation; without a warm start it does not come nearer.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWarmStartFindsTheBestApproximation(boolean isWarm) {
    var settings = new PowerSgd(2, 0, isWarm, 0);
    int from = (int) Layout.of(PARAMETERS, Precision.FLOAT32).slots().getLast().offset();
    // Singular values 1, 1/2, 1/3, ... 1/24: the best of rank 2 leaves those from the third on.
    var square = spectrum(24);
    double best = 0;
    for (int k = 2; k < 24; k++) {
      best += 1.0 / ((k + 1) * (k + 1));
    }
    double bestError = Math.sqrt(best);
    Source source =
        (layout, _, _) -> {
          var values = new double[(int) layout.length()];
          System.arraycopy(square, 0, values, from, square.length);
          return values;
        };
    var errors =
        Ranks.call(
                2,
                collective -> {
                  try (var rank = new Rank(collective, settings, Precision.FLOAT32, 1)) {
                    List<Double> all = new ArrayList<>();
                    for (int i = 0; i < 40; i++) {
                      var got = rank.reduce(source.gradient(rank.layout, i, 0));
                      double sum = 0;
                      for (int k = 0; k < square.length; k++) {
                        sum += Math.pow(got[from + k] - square[k], 2);
                      }
                      all.add(Math.sqrt(sum));
                      rank.takeKept();
                    }
                    return all;
                  }
                })
            .getFirst();
    assertThat(errors).allSatisfy(error -> assertThat(error).isGreaterThan(bestError * 0.9999));
    assertThat(errors.getFirst()).isGreaterThan(1.02 * bestError);
    if (isWarm) {
      assertThat(errors.getLast()).isCloseTo(bestError, within(1e-4 * bestError));
    } else {
      assertThat(errors.stream().skip(30).mapToDouble(it -> it).average().orElseThrow())
          .isGreaterThan(1.02 * bestError);
    }
  }

  /** A square matrix with singular values 1, 1/2, 1/3, ... */
  private static double[] spectrum(int size) {
    var random = new SplittableRandom(3);
    var left = new double[size * size];
    var right = new double[size * size];
    Householder.orthonormalise(left, 0, size, size, () -> random.nextDouble(-1, 1));
    Householder.orthonormalise(right, 0, size, size, () -> random.nextDouble(-1, 1));
    var matrix = new double[size * size];
    for (int k = 0; k < size; k++) {
      for (int i = 0; i < size * size; i++) {
        matrix[i] += left[k * size + i / size] * right[k * size + i % size] / (k + 1);
      }
    }
    return matrix;
  }

  /** What is left behind comes later: the mean of what was sent nears the gradient. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everyDirectionComesInTime(boolean isWarm) {
    Source source = (layout, _, rank) -> random(layout, 1000 + rank);
    var got = reduced(2, 200, new PowerSgd(1, 0, isWarm, 0), Precision.FLOAT32, source);
    var truth = mean(gradients(source, 0, 2));
    double early = distance(mean(got.subList(0, 10)), truth);
    assertThat(distance(mean(got), truth)).isLessThan(early / 4).isLessThan(0.2 * largest(truth));
  }
}
