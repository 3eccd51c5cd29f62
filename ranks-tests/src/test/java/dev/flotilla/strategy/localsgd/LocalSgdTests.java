package dev.flotilla.strategy.localsgd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.collective.Traffic;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that update on their own and average, against synchronous training. */
class LocalSgdTests {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final int UPDATES = 20;

  /** The parameters of one rank after each update, and what it has sent for averages. */
  private record Path(List<double[]> parameters, long averages, long bytes) {

    double[] last() {
      return parameters.getLast();
    }
  }

  private static Path path(World world, Optimizer optimizer, Strategy... with) {
    return path(world, optimizer, 16, UPDATES, with);
  }

  private static Path path(
      World world, Optimizer optimizer, int width, int updates, Strategy... with) {
    List<double[]> parameters = new ArrayList<>();
    try (var trainer =
        Trainer.on(world)
            .model(new Mlp(8, List.of(width), 4))
            .optimizer(optimizer)
            .precision(Precision.FLOAT64)
            .strategy(with)
            .threads(1)
            .build()) {
      var shard = BatchSource.perRank(POINTS, 8).shuffled(3).epoch(0, world.rank(), world.size());
      for (int i = 0; parameters.size() < updates; i++) {
        try (var _ = TensorScope.open()) {
          if (trainer.step(shard.load(i % shard.batches())).updated()) {
            parameters.add(values(trainer));
          }
        }
      }
      var sent = trainer.collective().count(Traffic.EXCHANGE);
      return new Path(parameters, sent.operations(), sent.bytesSent());
    }
  }

  private static double[] values(Trainer trainer) {
    return NativeView.of(trainer.model().arena().values()).toArray(ValueLayout.JAVA_DOUBLE);
  }

  private static List<Path> paths(int ranks, Optimizer optimizer, Strategy... with) {
    return Ranks.of(ranks).callWorlds(world -> path(world, optimizer, with));
  }

  private static double distance(double[] a, double[] b) {
    double largest = 0;
    for (int i = 0; i < a.length; i++) {
      largest = Math.max(largest, Math.abs(a[i] - b[i]));
    }
    return largest;
  }

  /** Returns the updates after which all ranks hold the same bits. */
  private static List<Integer> equalAfter(List<Path> paths) {
    List<Integer> updates = new ArrayList<>();
    for (int i = 0; i < UPDATES; i++) {
      int update = i;
      var first = paths.getFirst().parameters().get(i);
      if (paths.stream().allMatch(p -> Arrays.equals(p.parameters().get(update), first))) {
        updates.add(i + 1);
      }
    }
    return updates;
  }

  private static LocalSgd averaging(int k, int begin, MomentumPolicy momentum) {
    return new LocalSgd(k, begin, momentum, Dtype.FP32, false, AveragingGroup.RANK, null);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void averagingEveryUpdateIsSynchronousMomentum(int ranks) {
    var momentum = new Momentum(0.1, 0.9, false, 1e-3);
    var synchronous = paths(ranks, momentum);
    var averaged = paths(ranks, momentum, new LocalSgd(1));
    for (int i = 0; i < UPDATES; i++) {
      double[] expected = synchronous.getFirst().parameters().get(i);
      assertThat(distance(averaged.getFirst().parameters().get(i), expected)).isLessThan(1e-12);
    }
    assertThat(equalAfter(averaged)).hasSize(UPDATES);
  }

  /** More than a million parameters travel in pieces. */
  @ParameterizedTest
  @ValueSource(ints = 3)
  void averagingInPiecesIsSynchronousMomentumToo(int ranks) {
    var momentum = new Momentum(0.1, 0.9);
    int wide = 90_000;
    var synchronous = Ranks.of(ranks).callWorlds(world -> path(world, momentum, wide, 3));
    var averaged =
        Ranks.of(ranks).callWorlds(world -> path(world, momentum, wide, 3, new LocalSgd(1)));
    assertThat(synchronous.getFirst().last().length).isGreaterThan(1 << 20);
    assertThat(distance(averaged.getFirst().last(), synchronous.getFirst().last()))
        .isLessThan(1e-12);
    assertThat(averaged)
        .allSatisfy(it -> assertThat(it.last()).isEqualTo(averaged.getFirst().last()));
  }

  @Test
  void ranksHoldTheSameBitsAfterEachAverageAndOnlyThen() {
    var sgd = new Momentum(0.1, 0.9);
    assertThat(equalAfter(paths(3, sgd, averaging(4, 1, MomentumPolicy.LOCAL))))
        .containsExactly(1, 5, 9, 13, 17);
    assertThat(equalAfter(paths(2, sgd, averaging(4, 5, MomentumPolicy.LOCAL))))
        .containsExactly(1, 2, 3, 4, 5, 9, 13, 17);
  }

  @Test
  void theAverageIsThePlainMeanOfWhatRanksWouldHold() {
    var never = paths(2, new Momentum(0.1, 0.9), averaging(1000, 0, MomentumPolicy.LOCAL));
    var once = paths(2, new Momentum(0.1, 0.9), averaging(UPDATES, 0, MomentumPolicy.LOCAL));
    double[] mean = new double[never.getFirst().last().length];
    Arrays.setAll(mean, i -> (never.get(0).last()[i] + never.get(1).last()[i]) / 2);
    assertThat(distance(never.get(0).last(), never.get(1).last())).isGreaterThan(1e-3);
    assertThat(distance(once.getFirst().last(), mean)).isLessThan(1e-14);
  }

  @ParameterizedTest
  @EnumSource(MomentumPolicy.class)
  void momentumIsKeptAveragedOrReset(MomentumPolicy policy) {
    var paths = paths(2, new Momentum(0.1, 0.9), averaging(5, 0, policy));
    var other = policy == MomentumPolicy.LOCAL ? MomentumPolicy.AVERAGE : MomentumPolicy.LOCAL;
    var others = paths(2, new Momentum(0.1, 0.9), averaging(5, 0, other));
    assertThat(equalAfter(paths)).containsExactly(5, 10, 15, 20);
    assertThat(
            distance(paths.getFirst().parameters().get(4), others.getFirst().parameters().get(4)))
        .as("no difference before the first average")
        .isZero();
    assertThat(distance(paths.getFirst().last(), others.getFirst().last())).isGreaterThan(1e-6);
  }

  @Test
  void averagingTheVelocityDoublesTheBytes() {
    var local = paths(2, new Momentum(0.1, 0.9), averaging(5, 0, MomentumPolicy.LOCAL));
    var averaged = paths(2, new Momentum(0.1, 0.9), averaging(5, 0, MomentumPolicy.AVERAGE));
    assertThat(averaged.getFirst().bytes()).isEqualTo(2 * local.getFirst().bytes());
    var reset = paths(2, new Momentum(0.1, 0.9), averaging(5, 0, MomentumPolicy.RESET));
    assertThat(reset.getFirst().bytes()).isEqualTo(local.getFirst().bytes());
  }

  @Test
  void resettingMakesTheNextRoundStartWithoutVelocity() {
    var rank = paths(2, new Momentum(0.1, 0.9), averaging(1, 0, MomentumPolicy.RESET));
    var plain = paths(2, new Sgd(0.1));
    assertThat(distance(rank.getFirst().last(), plain.getFirst().last())).isLessThan(1e-12);
  }

  @ParameterizedTest
  @EnumSource(MomentumPolicy.class)
  void worksWithAdam(MomentumPolicy policy) {
    var paths = paths(2, new Adam(0.01), averaging(5, 1, policy));
    assertThat(equalAfter(paths)).containsExactly(1, 6, 11, 16);
  }

  @Test
  void intervalsCountUpdatesWhereMicroBatchesAreMerged() {
    var paths =
        paths(
            2, new Momentum(0.1, 0.9), averaging(4, 1, MomentumPolicy.LOCAL), new GradientMerge(3));
    assertThat(equalAfter(paths)).containsExactly(1, 5, 9, 13, 17);
    assertThat(paths.getFirst().averages()).isEqualTo(5);
  }
}
