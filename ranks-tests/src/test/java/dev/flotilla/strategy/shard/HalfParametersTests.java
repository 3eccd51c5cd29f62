package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Parameters and gradients in bf16, with the float32 master in slices. */
class HalfParametersTests {

  private static final int UPDATES = 50;
  private static final long SEED = 5;
  private static final ColouredPoints POINTS = new ColouredPoints(3600, 8, 4);
  private static final Mlp MODEL = new Mlp(8, List.of(33, 17), 4);
  private static final Optimizer MOMENTUM = new Momentum(0.05, 0.9, true, 1e-3);
  private static final Optimizer ADAM_W = new AdamW(1e-2, List.of(0.9, 0.999), 1e-8, 1e-2);

  /** What the formula comes to; each stage is compared with the same one. */
  private static final Map<String, Snapshot> BY_FORMULA = new ConcurrentHashMap<>();

  private static TrainerBuilder trainer(World world, Optimizer optimizer, Strategy... techniques) {
    return Trainer.on(world)
        .model(MODEL)
        .optimizer(optimizer)
        .seed(SEED)
        .strategy(techniques)
        .strategy(new MixedPrecision(Dtype.BF16))
        .threads(1);
  }

  private static Sharding halves(int stage) {
    return new Sharding(stage).withParameters(Dtype.BF16);
  }

  private static Snapshot train(
      int ranks, int microSteps, Optimizer optimizer, Strategy... techniques) {
    var all =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, optimizer, techniques).build()) {
                    var shard = POINTS.batches(12).shuffled(3).epoch(0, world.rank(), ranks);
                    for (int step = 0; step < microSteps; step++) {
                      try (var _ = TensorScope.open()) {
                        trainer.step(shard.load(step));
                      }
                    }
                    return Snapshot.of(trainer);
                  }
                });
    assertThat(all).allMatch(each -> each.isSameAs(all.getFirst()));
    return all.getFirst();
  }

  private static Snapshot byFormula(
      int ranks, Optimizer optimizer, int merge, boolean roundsWindow) {
    return BY_FORMULA.computeIfAbsent(
        "%d ranks, %s, merge %d, %s".formatted(ranks, optimizer, merge, roundsWindow),
        _ -> compute(ranks, optimizer, merge, roundsWindow));
  }

  private static Snapshot compute(int ranks, Optimizer optimizer, int merge, boolean roundsWindow) {
    try (var copy = new MasterCopy(MODEL, optimizer, SEED)) {
      var shards =
          IntStream.range(0, ranks)
              .mapToObj(rank -> POINTS.batches(12).shuffled(3).epoch(0, rank, ranks))
              .toList();
      for (int update = 0; update < UPDATES; update++) {
        try (var _ = TensorScope.open()) {
          List<List<dev.flotilla.data.Batch>> window = new ArrayList<>();
          for (int step = update * merge; step < (update + 1) * merge; step++) {
            int at = step;
            window.add(shards.stream().map(shard -> shard.load(at)).toList());
          }
          copy.step(window, roundsWindow);
        }
      }
      return copy.weights();
    }
  }

  static Stream<Arguments> rows() {
    return Stream.of(1, 2, 3)
        .flatMap(
            stage ->
                Stream.of(
                    Arguments.of(stage, 2, MOMENTUM, 1),
                    Arguments.of(stage, 3, MOMENTUM, 1),
                    Arguments.of(stage, 2, ADAM_W, 1),
                    Arguments.of(stage, 3, ADAM_W, 1),
                    Arguments.of(stage, 2, ADAM_W, 2)));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void updatesAreThoseOfTheFormula(int stage, int ranks, Optimizer optimizer, int merge) {
    var expected = byFormula(ranks, optimizer, merge, stage == 1);
    var sharded = train(ranks, UPDATES * merge, optimizer, halves(stage), new GradientMerge(merge));
    assertThat(sharded.relativeDistance(expected)).isZero();
    assertThat(sharded.isSameAs(expected)).isTrue();
  }
}
