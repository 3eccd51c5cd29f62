package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.fusion.BucketRule;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Matrix;
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
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Scalar;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compressed buckets that leave while backward goes on. */
@Timeout(120)
class EarlyDgcTests {

  private static final ColouredPoints POINTS = new ColouredPoints(4000, 8, 4);
  private static final int BATCH = 8;
  private static final int STEPS = 24;
  private static final Dgc DGC = new Dgc(3, 10, List.of(0.5, 0.75, 0.9)).minNumel(32);

  private static FuseAllReduce buckets(boolean overlaps) {
    return new FuseAllReduce(1e-4, 50, 0, overlaps, BucketRule.SIZE, Dtype.FP32);
  }

  private static TrainerBuilder trainer(World world, Strategy... techniques) {
    return trainer(world, 16, techniques);
  }

  private static TrainerBuilder trainer(World world, int width, Strategy... techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(width, width, width), 4))
        .optimizer(new Momentum(0.05, 0.9, true, 0.01))
        .strategy(techniques)
        .threads(1);
  }

  private static Batch batch(int step, int rank) {
    return POINTS.load(
        IntStream.range(0, BATCH).map(i -> (step * 64 + rank * BATCH + i) % 4000).toArray());
  }

  /** What a run came to, and what its summary says about the exchange. */
  private record Ended(Snapshot weights, Map<String, Object> exchange) {

    double hidden() {
      return ((Number) exchange.getOrDefault("hidden_ms_per_window", 0)).doubleValue();
    }
  }

  private static List<Ended> train(int ranks, Strategy... techniques) {
    return train(ranks, 16, techniques);
  }

  private static List<Ended> train(int ranks, int width, Strategy... techniques) {
    return Ranks.of(ranks)
        .callWorlds(
            world -> {
              try (var trainer = trainer(world, width, techniques).build()) {
                for (int step = 0; step < STEPS; step++) {
                  step(trainer, step, world.rank());
                }
                return new Ended(Snapshot.of(trainer), exchange(trainer));
              }
            });
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> exchange(Trainer trainer) {
    return (Map<String, Object>) trainer.metrics().getOrDefault("exchange", Map.of());
  }

  private static void step(Trainer trainer, int step, int rank) {
    try (var _ = TensorScope.open()) {
      trainer.step(batch(step, rank));
    }
  }

  static Stream<Arguments> others() {
    return Matrix.some(
        4,
        Stream.of(
            Arguments.of(3, List.of()),
            Arguments.of(2, List.of()),
            Arguments.of(2, List.of(new GradientMerge(3))),
            Arguments.of(2, List.of(Recompute.every(1))),
            Arguments.of(2, List.of(new MixedPrecision(Dtype.BF16))),
            // Nothing may leave early with these, and nothing changes.
            Arguments.of(2, List.of(new ClipByNorm(0.5))),
            Arguments.of(2, List.of(new MixedPrecision(Dtype.FP16)))));
  }

  @ParameterizedTest
  @MethodSource("others")
  void whenTheyLeaveDoesNotChangeABit(int ranks, List<Strategy> others) {
    var late = train(ranks, with(others, buckets(false)));
    var early = train(ranks, with(others, buckets(true)));
    assertThat(early)
        .allSatisfy(one -> assertThat(one.weights().isSameAs(late.getFirst().weights())).isTrue());
  }

  private static Strategy[] with(List<Strategy> others, FuseAllReduce buckets) {
    return Stream.concat(others.stream(), Stream.of(DGC, buckets)).toArray(Strategy[]::new);
  }

  /** Backward takes milliseconds here, and the first bucket is complete soon. */
  @Test
  void theyDoLeaveEarly() {
    var always = new Dgc(0, 10, List.of(0.9));
    var early = train(2, 512, always, buckets(true));
    var late = train(2, 512, always, buckets(false));
    assertThat(early.getFirst().hidden()).isGreaterThan(0);
    assertThat(late.getFirst().hidden()).isZero();
  }

  /** A rank without a batch shares in the same order, with nothing of its own. */
  @Test
  void aRankWithoutBatchKeepsStep() {
    for (boolean overlaps : new boolean[] {false, true}) {
      var all =
          Ranks.of(2)
              .callWorlds(
                  world -> {
                    try (var trainer = trainer(world, DGC, buckets(overlaps)).build()) {
                      for (int step = 0; step < STEPS; step++) {
                        try (var _ = TensorScope.open()) {
                          boolean isEmpty = world.rank() == 1 && step % 4 == 2;
                          trainer.step(
                              isEmpty ? POINTS.load(new int[0]) : batch(step, world.rank()));
                        }
                      }
                      return Snapshot.of(trainer);
                    }
                  });
      assertThat(all.get(0).isSameAs(all.get(1))).isTrue();
    }
  }

  /** What is kept was corrected before the vote. */
  @Test
  void aRunThatHasEndedEarlyIsNotSaved(@TempDir Path folder) {
    var messages =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer =
                      trainer(world, DGC, buckets(true))
                          .checkpoints(CheckpointSettings.in(folder))
                          .build()) {
                    for (int step = 0; step < 12; step++) {
                      step(trainer, step, world.rank());
                    }
                    assertThatThrownBy(() -> stepWithInfinity(trainer, world.rank()))
                        .hasMessageContaining("not finite");
                    trainer.save();
                    return "saved";
                  } catch (IllegalStateException e) {
                    return String.valueOf(e.getMessage());
                  }
                });
    assertThat(messages).allSatisfy(it -> assertThat(it).contains("cannot be saved"));
  }

  /** Rank 1 has seen something infinite at one step. */
  private static void stepOrInfinity(Trainer trainer, int step, int rank) {
    if (rank == 1 && step == 12) {
      stepWithInfinity(trainer, rank);
    } else {
      step(trainer, step, rank);
    }
  }

  private static void stepWithInfinity(Trainer trainer, int rank) {
    try (var _ = TensorScope.open()) {
      var batch = batch(12, rank);
      batch.inputs().getFirst().mul_(new Scalar(Double.POSITIVE_INFINITY));
      trainer.step(batch);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInfiniteGradientOfOneRankEndsTheRunOnAll(boolean overlaps) {
    var messages =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, DGC, buckets(overlaps)).build()) {
                    for (int step = 0; step < STEPS; step++) {
                      stepOrInfinity(trainer, step, world.rank());
                    }
                    return "ended";
                  } catch (RuntimeException e) {
                    return String.valueOf(e.getMessage());
                  }
                });
    assertThat(messages).allSatisfy(it -> assertThat(it).contains("rank 1").contains("not finite"));
  }

  /** Where the run goes on, residuals are touched after the vote only. */
  @Test
  void aRunThatSkipsVotesFirst() {
    var late = skipping(buckets(false));
    var early = skipping(buckets(true));
    assertThat(early.isSameAs(late)).isTrue();
  }

  private static Snapshot skipping(FuseAllReduce buckets) {
    return Ranks.of(2)
        .callWorlds(
            world -> {
              try (var trainer = trainer(world, DGC, buckets).nonFinite(NonFinite.SKIP).build()) {
                for (int step = 0; step < STEPS; step++) {
                  stepOrInfinity(trainer, step, world.rank());
                }
                return Snapshot.of(trainer);
              }
            })
        .getFirst();
  }
}
