package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.Stem;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Statistics of all ranks' batches, with parameters that are there for one segment at a time. */
class ShardedBatchNormTests {

  private static final Dataset IMAGES = new SyntheticImages(3, 8, 10, 64, 8).train();
  private static final int STEPS = 6;

  private static Snapshot train(int ranks, Precision precision, Strategy... techniques) {
    var all =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer =
                      Trainer.on(world)
                          .model(new ResNet18(10, Stem.CIFAR, Normalization.BATCH, 4, false, 4))
                          .optimizer(new Momentum(0.05, 0.9))
                          .precision(precision)
                          .strategy(techniques)
                          .threads(1)
                          .build()) {
                    trainer.plannedUpdates(100);
                    for (int step = 0; step < STEPS; step++) {
                      try (var _ = TensorScope.open()) {
                        trainer.step(batch(world, step));
                      }
                    }
                    trainer.averageParameters();
                    return Snapshot.of(trainer);
                  }
                });
    assertThat(all).allMatch(each -> each.isSameAs(all.getFirst()));
    return all.getFirst();
  }

  /** Now and then the last rank has none. */
  private static Batch batch(World world, int step) {
    if (step % 3 == 1 && world.rank() == world.size() - 1) {
      return Batch.empty();
    }
    int first = (7 * step + 4 * world.rank()) % 56;
    return IMAGES.load(IntStream.range(first, first + 4).toArray());
  }

  /** Two ranks add to the same sums in any order; a window leaves at once. */
  @ParameterizedTest
  @CsvSource({"3, SYNC, 1", "2, WHOLE_WINDOW, 2", "3, WHOLE_WINDOW, 2"})
  void slicesGiveTheSameBits(int stage, PoolOver over, int merge) {
    Strategy[] pooled = {new PooledBatchNorm(over), new GradientMerge(merge)};
    var plain = train(2, Precision.FLOAT32, pooled);
    var sharded = train(2, Precision.FLOAT32, pooled[0], pooled[1], new Sharding(stage));
    assertThat(sharded.isSameAs(plain)).isTrue();
  }

  @Test
  void mergedSlicesOfThreeRanksAreWithinRounding() {
    Strategy[] pooled = {new PooledBatchNorm(PoolOver.SYNC), new GradientMerge(2)};
    var plain = train(3, Precision.FLOAT64, pooled);
    var sharded = train(3, Precision.FLOAT64, pooled[0], pooled[1], new Sharding(3));
    assertThat(sharded.relativeDistance(plain)).isLessThan(1e-11);
  }
}
