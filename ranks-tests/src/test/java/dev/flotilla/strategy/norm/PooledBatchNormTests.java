package dev.flotilla.strategy.norm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.arena.Bucket;
import dev.flotilla.arena.Gradients;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.exchange.Exchange;
import dev.flotilla.exchange.ExchangeTimes;
import dev.flotilla.exchange.Stage;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.step.Claim;
import dev.flotilla.step.Phase;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.fusion.BucketRule;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.ResNet50;
import dev.flotilla.zoo.model.Stem;
import dev.flotilla.zoo.model.Vgg16Bn;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Pooled BatchNorm equals the large batch, which plain merging does not. */
class PooledBatchNormTests {

  private static final int UPDATES = 2;
  private static final int WINDOW = 16;

  record Case(String name, Model model, Dataset data) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> models() {
    return Stream.of(
        new Case(
            "resnet18", new ResNet18(10, Stem.CIFAR, Normalization.BATCH, 4, false, 4), images(16)),
        new Case(
            "resnet50", new ResNet50(10, Stem.CIFAR, Normalization.BATCH, 4, false, 2), images(16)),
        new Case("vgg16_bn", new Vgg16Bn(10, 0, 8, 2), images(32)));
  }

  /** What does not depend on a network's shape is checked with one whose BatchNorm is alone. */
  private static Case small() {
    return new Case("perceptron", new NormedPerceptron(8, 16, 4), new ColouredPoints(64, 8, 4));
  }

  private static Dataset images(int side) {
    return new SyntheticImages(3, side, 10, 64, 8).train();
  }

  private static Trainer trainer(Case example, World world, Strategy... techniques) {
    return Trainer.on(world)
        .model(example.model())
        .optimizer(new Momentum(0.05, 0.9))
        .precision(Precision.FLOAT64)
        .strategy(techniques)
        .threads(1)
        .build();
  }

  /** Trains in micro-batches of a size, each rank on its part of every one. */
  private static Snapshot train(Case example, World world, int micro, Strategy... techniques) {
    try (var trainer = trainer(example, world, techniques)) {
      run(trainer, example, world, micro, 0, UPDATES * WINDOW);
      return Snapshot.of(trainer);
    }
  }

  private static void run(Trainer trainer, Case example, World world, int micro, int from, int to) {
    for (int at = from; at < to; at += micro) {
      int first = at + micro * world.rank() / world.size();
      int last = at + micro * (world.rank() + 1) / world.size();
      try (var _ = TensorScope.open()) {
        trainer.step(
            first == last
                ? Batch.empty()
                : example.data().load(IntStream.range(first, last).toArray()));
      }
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void aWholeWindowEqualsTheLargeBatch(Case example) {
    var large = train(example, World.solo(), WINDOW);
    var pooled = train(example, World.solo(), 4, merge(4), whole());
    var plain = train(example, World.solo(), 4, merge(4));
    assertEqual(pooled, large);
    var conv = example.name().startsWith("vgg") ? "features.0.weight" : "conv1.weight";
    assertThat(plain.relativeDistance(conv, large)).isGreaterThan(1e-6);
  }

  @ParameterizedTest
  @MethodSource("models")
  void aWholeWindowOnThreeRanksEqualsTheLargeBatch(Case example) {
    var large = train(example, World.solo(), WINDOW);
    var pooled = Ranks.of(3).callWorlds(world -> train(example, world, 8, merge(2), whole()));
    for (var rank : pooled) {
      assertEqual(rank, large);
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void syncOverRanksEqualsOneRank(Case example) {
    var one = train(example, World.solo(), WINDOW);
    var sync = new PooledBatchNorm(PoolOver.SYNC);
    var two = Ranks.of(2).callWorlds(world -> train(example, world, WINDOW, sync));
    assertEqual(two.get(0), one);
    assertThat(two.get(0).isSameAs(two.get(1))).isTrue();
  }

  @Test
  void syncWithRecomputeGivesTheSameBitsAsWithout() {
    var example = models().findFirst().orElseThrow();
    var sync = new PooledBatchNorm(PoolOver.SYNC);
    var plain = Ranks.of(2).callWorlds(world -> train(example, world, WINDOW, sync));
    var again =
        Ranks.of(2).callWorlds(world -> train(example, world, WINDOW, sync, Recompute.every(1)));
    assertThat(again.getFirst().isSameAs(plain.getFirst())).isTrue();
  }

  /** The dense exchange, and whether its first bucket left before backward had ended. */
  private record Watched(List<Boolean> leftEarly) implements Strategy {

    @Override
    public String key() {
      return "watched";
    }

    @Override
    public List<Claim> claims() {
      return List.of(new Claim(Phase.EXCHANGE, "dense"));
    }

    @Override
    public Workers workers(StepContext context) {
      var dense = Exchange.dense(context.collective());
      return new Workers()
          .exchange(
              new Exchange() {
                @Override
                public List<Stage> reduce(Gradients gradients, Bucket bucket) {
                  return dense.reduce(gradients, bucket);
                }

                @Override
                public void observed(ExchangeTimes times) {
                  leftEarly.add(times.buckets().getFirst().start() < times.backwardEnd());
                }
              });
    }
  }

  @ParameterizedTest
  @CsvSource({"SYNC, 3", "WHOLE_WINDOW, 3"})
  void bucketsLeaveWhileBackwardExchangesStatistics(PoolOver over, int ranks) {
    var example = models().findFirst().orElseThrow();
    var pooled = new PooledBatchNorm(over);
    List<Boolean> leftEarly = new CopyOnWriteArrayList<>();
    var apart =
        Ranks.of(ranks)
            .callWorlds(world -> train(example, world, 4, merge(2), pooled, buckets(false)));
    var overlapped =
        Ranks.of(ranks)
            .callWorlds(
                world ->
                    train(
                        example,
                        world,
                        4,
                        merge(2),
                        pooled,
                        buckets(true),
                        new Watched(leftEarly)));
    for (int rank = 0; rank < ranks; rank++) {
      assertThat(overlapped.get(rank).isSameAs(apart.get(rank))).isTrue();
    }
    assertThat(leftEarly).contains(true);
  }

  private static FuseAllReduce buckets(boolean overlap) {
    return new FuseAllReduce(0.02, 50, 0.001, overlap, BucketRule.SIZE, Dtype.FP32);
  }

  @Test
  void aRankWithoutSamplesTakesPartAllTheSame() {
    var example = small();
    var one = train(example, World.solo(), 1, whole());
    var two = Ranks.of(2).callWorlds(world -> train(example, world, 1, whole()));
    assertEqual(two.getFirst(), one);
  }

  @Test
  void anOwnLoopEndsAWindowInWhichOneRankHasNothing() {
    var example = small();
    var one = ownLoop(example, World.solo());
    var two = Ranks.of(2).callWorlds(world -> ownLoop(example, world));
    assertEqual(two.get(0), one);
    assertThat(two.get(0).isSameAs(two.get(1))).isTrue();
  }

  /** Rank 0 takes all samples of every window, so that other ranks come without any. */
  private static Snapshot ownLoop(Case example, World world) {
    try (var trainer = trainer(example, world, whole())) {
      var loop = trainer.ownLoop();
      for (int at = 0; at < 2 * WINDOW; at += 4) {
        try (var _ = TensorScope.open()) {
          loop.forwardBackward(
              world.rank() > 0
                  ? Batch.empty()
                  : example.data().load(IntStream.range(at, at + 4).toArray()));
        }
        if ((at + 4) % WINDOW == 0) {
          loop.update();
        }
      }
      return Snapshot.of(trainer);
    }
  }

  @Test
  void aWindowThatWasStoppedInItsMiddleGoesOnToTheBit(@TempDir Path folder) {
    var example = small();
    var whole = train(example, World.solo(), 4, merge(4), whole());
    var settings = CheckpointSettings.in(folder);
    try (var trainer = saving(example, settings)) {
      run(trainer, example, World.solo(), 4, 0, 24);
      trainer.save();
      trainer.awaitSave();
    }
    try (var trainer = saving(example, settings)) {
      assertThat(trainer.resume(folder)).isPresent();
      run(trainer, example, World.solo(), 4, 24, UPDATES * WINDOW);
      assertThat(Snapshot.of(trainer).isSameAs(whole)).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 1", "1, 3", "3, 2"})
  void aWindowThatWasStoppedInItsMiddleGoesOnWithAnotherNumberOfRanks(
      int before, int after, @TempDir Path folder) {
    var example = small();
    var whole = train(example, World.solo(), 4, merge(4), whole());
    var settings = CheckpointSettings.in(folder);
    Ranks.of(before)
        .callWorlds(
            world -> {
              try (var trainer = saving(example, world, settings)) {
                run(trainer, example, world, 4, 0, 24);
                trainer.save();
                trainer.awaitSave();
                return world.rank();
              }
            });
    var resumed =
        Ranks.of(after)
            .callWorlds(
                world -> {
                  try (var trainer = saving(example, world, settings)) {
                    assertThat(trainer.resume(folder)).isPresent();
                    run(trainer, example, world, 4, 24, UPDATES * WINDOW);
                    return Snapshot.of(trainer);
                  }
                });
    resumed.forEach(rank -> assertEqual(rank, whole));
  }

  private static Trainer saving(Case example, CheckpointSettings settings) {
    return saving(example, World.solo(), settings);
  }

  private static Trainer saving(Case example, World world, CheckpointSettings settings) {
    return Trainer.on(world)
        .model(example.model())
        .optimizer(new Momentum(0.05, 0.9))
        .precision(Precision.FLOAT64)
        .strategy(merge(4), whole())
        .checkpoints(settings)
        .threads(1)
        .build();
  }

  /**
   * A bias before BatchNorm has no gradient but rounding: where both are that small, they are
   * equal.
   */
  private static void assertEqual(Snapshot one, Snapshot other) {
    for (var name : other.values().keySet()) {
      double largest = Arrays.stream(other.values().get(name)).map(Math::abs).max().orElse(0);
      if (largest > 1e-12) {
        assertThat(one.relativeDistance(name, other)).as(name).isLessThan(1e-10);
      } else {
        double own = Arrays.stream(one.values().get(name)).map(Math::abs).max().orElse(0);
        assertThat(own).as(name).isLessThan(1e-12);
      }
    }
  }

  private static GradientMerge merge(int steps) {
    return new GradientMerge(steps);
  }

  private static PooledBatchNorm whole() {
    return new PooledBatchNorm(PoolOver.WHOLE_WINDOW);
  }
}
