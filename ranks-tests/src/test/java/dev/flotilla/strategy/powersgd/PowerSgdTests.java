package dev.flotilla.strategy.powersgd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.fusion.BucketRule;
import dev.flotilla.strategy.fusion.FuseAllReduce;
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

/** Whole runs on several ranks, compared with what they must equal. */
@Timeout(120)
class PowerSgdTests {

  private static final ColouredPoints POINTS = new ColouredPoints(4000, 8, 4);
  private static final int BATCH = 8;
  private static final int STEPS = 24;
  private static final PowerSgd ONE = new PowerSgd(1);
  private static final PowerSgd FULL = new PowerSgd(1000).minCompression(0);

  private static TrainerBuilder trainer(World world, Optimizer optimizer, Strategy... techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16, 16), 4))
        .optimizer(optimizer)
        .strategy(techniques)
        .threads(1);
  }

  private static Batch batch(int step, int rank) {
    return POINTS.load(
        IntStream.range(0, BATCH).map(i -> (step * 64 + rank * BATCH + i) % 4000).toArray());
  }

  private static double step(Trainer trainer, int step, int rank) {
    try (var _ = TensorScope.open()) {
      return trainer.step(batch(step, rank)).totals().meanLoss();
    }
  }

  private static List<Snapshot> train(
      int ranks, int steps, Optimizer optimizer, Strategy... techniques) {
    return Ranks.of(ranks)
        .callWorlds(
            world -> {
              try (var trainer = trainer(world, optimizer, techniques).build()) {
                for (int i = 0; i < steps; i++) {
                  step(trainer, i, world.rank());
                }
                return Snapshot.of(trainer);
              }
            });
  }

  private static FuseAllReduce buckets(boolean overlaps) {
    return new FuseAllReduce(1e-4, 50, 0, overlaps, BucketRule.SIZE, Dtype.FP32);
  }

  static Stream<Optimizer> optimizers() {
    return Stream.of(new Momentum(0.05, 0.9, true, 0.01), new Adam(0.01));
  }

  /** Adam divides by the size of a gradient: what is zero but for rounding would weigh as much. */
  static Stream<Optimizer> smoothOptimizers() {
    return Stream.of(
        new Momentum(0.05, 0.9, true, 0.01), new Adam(0.01, List.of(0.9, 0.999), 1e-3, 0));
  }

  @ParameterizedTest
  @MethodSource("smoothOptimizers")
  void atFullRankARunIsTheDenseOne(Optimizer optimizer) {
    var dense = train(2, 20, optimizer).getFirst();
    var full = train(2, 20, optimizer, FULL).getFirst();
    assertThat(full.relativeDistance(dense)).isLessThan(1e-4);
    assertThat(train(2, 20, optimizer, ONE).getFirst().relativeDistance(dense)).isGreaterThan(1e-2);
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void rankOneLearns(Optimizer optimizer) {
    double dense = lossAfter(optimizer);
    double compressed = lossAfter(optimizer, ONE);
    assertThat(compressed).isLessThan(0.5 * Math.log(4)).isLessThan(1.5 * dense);
  }

  private static double lossAfter(Optimizer optimizer, Strategy... techniques) {
    return Ranks.of(2)
        .callWorlds(
            world -> {
              try (var trainer = trainer(world, optimizer, techniques).build()) {
                double last = 0;
                for (int i = 0; i < 150; i++) {
                  double loss = step(trainer, i, world.rank());
                  last += i < 130 ? 0 : loss / 20;
                }
                return last;
              }
            })
        .getFirst();
  }

  @Test
  void theDensePhaseIsTheBaselineToTheBit() {
    var optimizer = new Momentum(0.05, 0.9, true, 0.01);
    var plain = train(2, 6, optimizer).getFirst();
    assertThat(train(2, 6, optimizer, ONE.startStep(6)).getFirst().isSameAs(plain)).isTrue();
    assertThat(train(2, 6, optimizer, ONE.startStep(5)).getFirst().isSameAs(plain)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void ranksHoldTheSameBits(int ranks) {
    var all = train(ranks, 40, new Adam(0.01), ONE.startStep(3));
    assertThat(all).allSatisfy(one -> assertThat(one.isSameAs(all.getFirst())).isTrue());
  }

  static Stream<Arguments> others() {
    return Stream.of(
        Arguments.of(3, List.of()),
        Arguments.of(2, List.of(new GradientMerge(3))),
        // Nothing may leave early with these, and nothing changes.
        Arguments.of(2, List.of(new ClipByNorm(0.5))),
        Arguments.of(2, List.of(new MixedPrecision(Dtype.FP16))));
  }

  @ParameterizedTest
  @MethodSource("others")
  void whenBucketsLeaveDoesNotChangeABit(int ranks, List<Strategy> others) {
    var late = train(ranks, STEPS, new Adam(0.01), with(others, buckets(false)));
    var early = train(ranks, STEPS, new Adam(0.01), with(others, buckets(true)));
    assertThat(early).allSatisfy(one -> assertThat(one.isSameAs(late.getFirst())).isTrue());
  }

  private static Strategy[] with(List<Strategy> others, FuseAllReduce buckets) {
    return Stream.concat(others.stream(), Stream.of(ONE.startStep(2), buckets))
        .toArray(Strategy[]::new);
  }

  /** Two ranks with the same gradient: each clips to c / √2, so that the sum has norm c √2. */
  @Test
  void eachRankClipsItsOwnGradient() {
    double norm = 0.01;
    var moved =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  var techniques = new Strategy[] {FULL, new ClipByNorm(norm)};
                  try (var trainer = trainer(world, new Sgd(1), techniques).build()) {
                    var before = Snapshot.of(trainer);
                    step(trainer, 3, 0);
                    return before.distance(Snapshot.of(trainer));
                  }
                });
    assertThat(moved.getFirst() / (norm * Math.sqrt(2))).isBetween(0.999, 1.001);
  }

  /** A window that is left out leaves nothing behind: the run goes on as if it had not been. */
  @Test
  void nothingThatIsNotFiniteIsKept() {
    assertThat(skipping(12).isSameAs(skipping(-1))).isTrue();
  }

  private static Snapshot skipping(int at) {
    return Ranks.of(2)
        .callWorlds(
            world -> {
              var builder = trainer(world, new Adam(0.01), ONE).nonFinite(NonFinite.SKIP);
              try (var trainer = builder.build()) {
                for (int i = 0; i < STEPS; i++) {
                  if (i == at) {
                    stepWithInfinity(trainer, world.rank());
                  }
                  step(trainer, i, world.rank());
                }
                return Snapshot.of(trainer);
              }
            })
        .getFirst();
  }

  private static void stepWithInfinity(Trainer trainer, int rank) {
    try (var _ = TensorScope.open()) {
      var batch = batch(100, rank);
      if (rank == 1) {
        batch.inputs().getFirst().mul_(new Scalar(Double.POSITIVE_INFINITY));
      }
      trainer.step(batch);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anInfiniteGradientOfOneRankEndsTheRunAndIsNotSaved(
      boolean leavesEarly, @TempDir Path folder) {
    var messages =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  var builder =
                      trainer(world, new Adam(0.01), ONE, buckets(leavesEarly))
                          .checkpoints(CheckpointSettings.in(folder));
                  try (var trainer = builder.build()) {
                    for (int i = 0; i < 12; i++) {
                      step(trainer, i, world.rank());
                    }
                    assertThatThrownBy(() -> stepWithInfinity(trainer, world.rank()))
                        .hasMessageContaining("not finite");
                    trainer.save();
                    return "saved";
                  } catch (IllegalStateException e) {
                    return String.valueOf(e.getMessage());
                  }
                });
    assertThat(messages)
        .allSatisfy(it -> assertThat(it).contains(leavesEarly ? "cannot be saved" : "saved"));
  }

  /** What is kept is parts of a sum, so that another number of ranks takes it up. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void anotherNumberOfRanksGoesOn(int ranks, @TempDir Path folder) {
    var optimizer = new Adam(0.01);
    var whole = train(2, 16, optimizer, ONE).getFirst();
    Ranks.of(2)
        .callWorlds(
            world -> {
              var builder =
                  trainer(world, optimizer, ONE).checkpoints(CheckpointSettings.in(folder));
              try (var trainer = builder.build()) {
                for (int i = 0; i < 8; i++) {
                  step(trainer, i, world.rank());
                }
                trainer.save();
                trainer.awaitSave();
                return metrics(trainer);
              }
            });
    var resumed =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  var builder =
                      trainer(world, optimizer, ONE).checkpoints(CheckpointSettings.in(folder));
                  try (var trainer = builder.build()) {
                    assertThat(trainer.resume(folder)).isPresent();
                    // Two parts for three ranks leave nothing for the last one.
                    assertThat(norm(trainer) > 0).isEqualTo(world.rank() < 2);
                    for (int i = 8; i < 16; i++) {
                      step(trainer, i, world.rank());
                    }
                    // One rank has nobody to hold anything back from.
                    assertThat(norm(trainer) == 0).isEqualTo(world.size() == 1);
                    return Snapshot.of(trainer);
                  }
                });
    assertThat(resumed).allSatisfy(one -> assertThat(one.isSameAs(resumed.getFirst())).isTrue());
    assertThat(resumed.getFirst().isSameAs(whole)).isEqualTo(ranks == 2);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> metrics(Trainer trainer) {
    return (Map<String, Object>) trainer.metrics().getOrDefault("powersgd", Map.of());
  }

  private static double norm(Trainer trainer) {
    return ((Number) metrics(trainer).getOrDefault("residual_norm", -1)).doubleValue();
  }

  /** 16 x 8, 16 x 16 and 4 x 16 weights and 36 biases, as factors of rank 1. */
  @Test
  void theSummarySaysWhatWasSaved() {
    Ranks.of(2)
        .callWorlds(
            world -> {
              var builder =
                  trainer(world, new Adam(0.01), ONE.startStep(3)).precision(Precision.FLOAT64);
              try (var trainer = builder.build()) {
                for (int i = 0; i < 5; i++) {
                  step(trainer, i, world.rank());
                }
                long sent = 24 + 32 + 20 + 36;
                assertThat(metrics(trainer))
                    .containsEntry("compressed_updates", 2L)
                    .containsEntry("compression_ratio", Math.round(484.0 / sent * 1e3) / 1e3)
                    .containsEntry("sent_bytes_per_update", 8 * sent);
                return norm(trainer);
              }
            });
  }
}
