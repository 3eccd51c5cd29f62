package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.optim.Adam;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A loss scale is found, undone and judged on slices as it is on whole gradients. */
class ShardedLossScaleTests {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  // Overflows fp16 in backward, and not in forward.
  private static final double HUGE = 1000;

  private static TrainerBuilder trainer(World world, int stage, int merge) {
    Strategy[] techniques = {
      new MixedPrecision(Dtype.FP16), new GradientMerge(merge), new Sharding(stage)
    };
    return Trainer.on(world)
        .model(new Mlp(8, List.of(33, 17), 4))
        .optimizer(new Adam(1e-2))
        .strategy(techniques)
        .nonFinite(NonFinite.SKIP)
        .threads(1);
  }

  private static Snapshot train(int ranks, int stage, int merge, ObjIntConsumer<Trainer> steps) {
    var all =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, stage, merge).build()) {
                    trainer.plannedUpdates(100);
                    steps.accept(trainer, world.rank());
                    trainer.averageParameters();
                    return Snapshot.of(trainer);
                  }
                });
    assertThat(all).allMatch(each -> each.isSameAs(all.getFirst()));
    return all.getFirst();
  }

  private static boolean step(Trainer trainer, int first, int samples, double size) {
    try (var _ = TensorScope.open()) {
      return trainer.step(batch(first, samples, size)).updated();
    }
  }

  private static Batch batch(int first, int samples, double size) {
    if (samples == 0) {
      return Batch.empty();
    }
    var batch = POINTS.load(IntStream.range(first, first + samples).map(i -> i % 480).toArray());
    batch.inputs().forEach(input -> Tensors.scale(input, size));
    return batch;
  }

  /** Sums of all stages are added in the order of ranks; a loss scale is a power of two here. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void withoutMergeSlicesGiveTheSameBits(int stage) {
    ObjIntConsumer<Trainer> steps =
        (trainer, rank) -> {
          for (int i = 0; i < 10; i++) {
            assertThat(step(trainer, 24 * i + 8 * rank, 8, 1)).isTrue();
          }
        };
    assertThat(train(3, stage, 1, steps).isSameAs(train(3, 1, 1, steps))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void mergedSlicesAreWithinRounding(int stage) {
    ObjIntConsumer<Trainer> steps =
        (trainer, rank) -> {
          for (int i = 0; i < 16; i++) {
            assertThat(step(trainer, 12 * i + 4 * rank, 4, 1)).isEqualTo(i % 4 == 3);
          }
        };
    var whole = train(3, 1, 4, steps);
    assertThat(train(3, stage, 4, steps).relativeDistance(whole)).isLessThan(1e-4);
  }

  /**
   * The infinite number must leave the slices with its window: in the window of the first guess, in
   * a later one, in its first micro-step and in its last.
   */
  @ParameterizedTest
  @CsvSource({"2, 0", "2, 3", "3, 1", "3, 2"})
  void anOverflowOnOneRankDropsTheWholeWindowEverywhereAndTheNextStartsClean(int stage, int at) {
    int bad = at / 2;
    var disturbed =
        train(
            2,
            stage,
            2,
            (trainer, rank) -> {
              for (int i = 0; i < 6; i++) {
                boolean updated = step(trainer, 8 * i, 4, rank == 1 && i == at ? HUGE : 1);
                assertThat(updated).isEqualTo(i % 2 == 1 && i / 2 != bad);
              }
            });
    var undisturbed =
        train(
            2,
            stage,
            2,
            (trainer, _) -> {
              for (int i = 0; i < 6; i++) {
                if (i / 2 != bad) {
                  step(trainer, 8 * i, 4, 1);
                }
              }
            });
    assertThat(disturbed.isSameAs(undisturbed)).isTrue();
  }

  /** Each rank guesses the scale by its first batch, which one of them gets late. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void ranksOfVeryDifferentSizesAgreeInTheirFirstMicroStep(int stage) {
    ObjIntConsumer<Trainer> steps =
        (trainer, rank) -> {
          step(trainer, 0, List.of(0, 2, 300).get(rank), 1);
          assertThat(step(trainer, 300, List.of(64, 0, 2).get(rank), 1)).isTrue();
          step(trainer, 8, 4, 1);
          assertThat(step(trainer, 16, 4, 1)).isTrue();
        };
    var whole = train(3, 1, 2, steps);
    assertThat(train(3, stage, 2, steps).relativeDistance(whole)).isLessThan(1e-4);
  }

  /** A window of the first guess goes on with another number of ranks, at another stage. */
  @ParameterizedTest
  @CsvSource({"2, 3", "3, 1", "1, 2"})
  void aFirstWindowThatWasSavedHasOneScale(int before, int after, @TempDir Path folder) {
    Ranks.of(2)
        .callWorlds(
            world -> {
              try (var trainer = saving(world, before, folder)) {
                trainer.plannedUpdates(100);
                step(trainer, 0, world.rank() == 0 ? 2 : 300, 1);
                trainer.save();
                trainer.awaitSave();
                return world.rank();
              }
            });
    var resumed =
        Ranks.of(3)
            .callWorlds(
                world -> {
                  try (var trainer = saving(world, after, folder)) {
                    assertThat(trainer.resume(folder)).isPresent();
                    assertThat(step(trainer, 300 + 4 * world.rank(), 4, 1)).isTrue();
                    trainer.averageParameters();
                    return Snapshot.of(trainer);
                  }
                });
    var whole =
        train(
            2,
            1,
            2,
            (trainer, rank) -> {
              step(trainer, 0, rank == 0 ? 2 : 300, 1);
              step(trainer, 300 + 6 * rank, 6, 1);
            });
    assertThat(resumed.getFirst().relativeDistance(whole)).isLessThan(2e-3);
  }

  private static Trainer saving(World world, int stage, Path folder) {
    return trainer(world, stage, 2).checkpoints(CheckpointSettings.in(folder)).build();
  }
}
