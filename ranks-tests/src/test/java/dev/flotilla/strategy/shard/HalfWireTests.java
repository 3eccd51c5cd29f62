package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.collective.Collective;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.bytedeco.pytorch.Scalar;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Gradients that are scattered in 16 bits, in whole runs. */
class HalfWireTests {

  private static final int STEPS = 8;
  private static final int BAD_STEP = 3;
  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);

  /**
   * How a run ended.
   *
   * @param found what was not finite, for each step
   */
  private record Run(Snapshot weights, List<Optional<String>> found) {}

  private static Run train(
      int ranks, double poison, UnaryOperator<Collective> group, Strategy... techniques) {
    var runs =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer =
                      Trainer.on(world)
                          .model(new Mlp(8, List.of(33, 17), 4))
                          .optimizer(new Momentum(0.05, 0.9))
                          .strategy(techniques)
                          .collective(group)
                          .nonFinite(NonFinite.SKIP)
                          .threads(1)
                          .build()) {
                    var found = steps(trainer, world.rank(), ranks, poison);
                    trainer.averageParameters();
                    return new Run(Snapshot.of(trainer), found);
                  }
                });
    assertThat(runs).allMatch(run -> run.weights().isSameAs(runs.getFirst().weights()));
    return runs.getFirst();
  }

  /** The last rank's inputs are multiplied in one step. */
  private static List<Optional<String>> steps(Trainer trainer, int rank, int ranks, double poison) {
    var shard = POINTS.batches(12).shuffled(3).epoch(0, rank, ranks);
    List<Optional<String>> found = new ArrayList<>();
    for (int step = 0; step < STEPS; step++) {
      try (var _ = TensorScope.open()) {
        var batch = shard.load(step);
        if (step == BAD_STEP && rank == ranks - 1) {
          batch.inputs().getFirst().mul_(new Scalar(poison));
        }
        found.add(trainer.step(batch).notFinite());
      }
    }
    return found;
  }

  @ParameterizedTest
  @CsvSource({"1, 2", "1, 3", "2, 3", "3, 3"})
  void updatesAreThoseOfGradientsThatWereRoundedBeforeTheyWereAdded(int stage, int ranks) {
    var rounded = train(ranks, 1, RankOrder::ofHalves);
    var sharded =
        train(ranks, 1, group -> group, new Sharding(stage), new FuseAllReduce().on(Dtype.BF16));
    assertThat(sharded.weights().isSameAs(rounded.weights())).isTrue();
    assertThat(sharded.weights().isSameAs(train(ranks, 1, RankOrder::of).weights())).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void whatIsNotFiniteDropsTheWindowAsWithoutSharding(int stage) {
    var half = new FuseAllReduce().on(Dtype.FP16);
    var plain = train(2, Double.POSITIVE_INFINITY, group -> group, half);
    var sharded = train(2, Double.POSITIVE_INFINITY, group -> group, new Sharding(stage), half);
    assertThat(sharded.found()).isEqualTo(plain.found());
    assertThat(sharded.found().get(BAD_STEP)).isPresent();
    assertThat(sharded.found().stream().filter(Optional::isPresent)).hasSize(1);
    assertThat(sharded.weights().relativeDistance(plain.weights())).isLessThan(1e-3);
  }

  /** A slice's numbers share a power of two, so what is large for fp16 drops nothing. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void whatIsFiniteDoesNotOverflow(int stage) {
    var half = new FuseAllReduce().on(Dtype.FP16);
    var sharded = train(2, 1e7, group -> group, new Sharding(stage), half);
    assertThat(sharded.found()).containsOnly(Optional.empty());
  }
}
