package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Activations;
import dev.flotilla.model.LossTerms;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Score;
import dev.flotilla.model.Segment;
import dev.flotilla.optim.Momentum;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.step.NumericalException;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.PoisonedPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.bytedeco.pytorch.Scalar;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Numbers that go wrong on one rank are found by all before the update, and acted on alike. */
class NumericalTests {

  private static final ColouredPoints POINTS = new ColouredPoints(160, 8, 4);
  private static final int BATCH = 16;

  private final List<String> notes = Collections.synchronizedList(new ArrayList<>());

  private TrainerBuilder trainer(World world, NonFinite policy) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(new Momentum(0.1, 0.9))
        .nonFinite(policy)
        .threads(1)
        .events(
            event -> {
              if (event instanceof TrainingEvent.Noted(var text)) {
                notes.add(text);
              }
            });
  }

  private static BatchSource source(Set<Integer> poisoned, float poison) {
    return BatchSource.global(new PoisonedPoints(POINTS, poisoned, poison), BATCH);
  }

  /** With 2 ranks, samples 8 to 15 of the first batch are rank 1's. */
  @ParameterizedTest
  @ValueSource(floats = {Float.NaN, Float.POSITIVE_INFINITY})
  void stopNamesTheRankOnAllRanksBeforeTheUpdate(float poison) {
    var outcomes =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, NonFinite.STOP).build()) {
                    var data = source(Set.of(2 * BATCH + 12), poison);
                    assertThatThrownBy(() -> trainer.fit(data, 1))
                        .isInstanceOf(NumericalException.class)
                        .hasMessageContaining("after update 2 the loss of rank 1 is not finite")
                        .extracting(it -> ((NumericalException) it).exitCode())
                        .isEqualTo(ExitCodes.NUMERICAL);
                    assertThat(trainer.updates()).isEqualTo(2);
                    return Snapshot.of(trainer);
                  }
                });
    assertThat(outcomes.get(0).isSameAs(outcomes.get(1))).isTrue();
    assertThat(outcomes.get(0).values().values())
        .allSatisfy(values -> assertThat(values).doesNotContain(Double.NaN));
  }

  @Test
  void skipLeavesTheWindowOutAndGoesOn() {
    try (var trainer = trainer(World.solo(), NonFinite.SKIP).build();
        var without = trainer(World.solo(), NonFinite.STOP).build()) {
      trainer.fit(source(Set.of(3 * BATCH), Float.NaN), 1);
      assertThat(trainer.updates()).isEqualTo(9);
      assertThat(trainer.microSteps()).isEqualTo(10);
      assertThat(notes)
          .anySatisfy(it -> assertThat(it).contains("after update 3").contains("left out"));
      skipThirdBatch(without);
      assertThat(Snapshot.of(trainer).isSameAs(Snapshot.of(without))).isTrue();
    }
  }

  private static void skipThirdBatch(Trainer trainer) {
    var shard = BatchSource.global(POINTS, BATCH).epoch(0, 0, 1);
    trainer.plannedUpdates(9);
    for (int i = 0; i < 10; i++) {
      if (i != 3) {
        try (var _ = TensorScope.open()) {
          trainer.step(shard.load(i));
        }
      }
    }
  }

  @Test
  void aSkippedWindowLeavesRunningStatisticsAsTheyWere() {
    try (var trainer = normed(World.solo(), NonFinite.SKIP).build();
        var without = normed(World.solo(), NonFinite.STOP).build()) {
      trainer.fit(source(Set.of(3 * BATCH), Float.NaN), 1);
      skipThirdBatch(without);
      var counted = Snapshot.of(trainer).values().get("bn.num_batches_tracked");
      assertThat(counted).containsExactly(9);
      assertThat(Snapshot.of(trainer).isSameAs(Snapshot.of(without))).isTrue();
    }
  }

  /** Fp16 has a vote of its own; numbers that overflow it are finite in float32. */
  @Test
  void aWindowThatFp16SkipsLeavesRunningStatisticsAsTheyWere() {
    var amp = new MixedPrecision(Dtype.FP16);
    try (var trainer = normed(World.solo(), NonFinite.SKIP).strategy(amp).build();
        var without = normed(World.solo(), NonFinite.STOP).strategy(amp).build()) {
      trainer.fit(source(Set.of(3 * BATCH), 1e30f), 1);
      assertThat(trainer.updates()).isEqualTo(9);
      skipThirdBatch(without);
      assertThat(Snapshot.of(trainer).isSameAs(Snapshot.of(without))).isTrue();
    }
  }

  /** The poisoned micro-batch comes before the stop, the end of its window after it. */
  @ParameterizedTest
  @CsvSource({"1, 1", "2, 2", "2, 1"})
  void aWindowThatIsSkippedAfterItWasResumedMovesNothing(
      int before, int after, @TempDir Path folder) {
    var beforeTheWindow =
        Ranks.of(before)
            .callWorlds(
                world -> {
                  try (var trainer = merging(world, folder)) {
                    steps(trainer, world, Set.of(), 0, 2);
                    var then = averaged(trainer);
                    steps(trainer, world, Set.of(2 * BATCH), 2, 3);
                    trainer.save();
                    trainer.awaitSave();
                    return then;
                  }
                });
    var resumed =
        Ranks.of(after)
            .callWorlds(
                world -> {
                  try (var trainer = merging(world, folder)) {
                    assertThat(trainer.resume(folder)).isPresent();
                    steps(trainer, world, Set.of(), 3, 4);
                    assertThat(trainer.updates()).isEqualTo(1);
                    return averaged(trainer);
                  }
                });
    assertThat(resumed).allMatch(beforeTheWindow.getFirst()::isSameAs);
  }

  private static Snapshot averaged(Trainer trainer) {
    trainer.averageStatistics();
    return Snapshot.of(trainer);
  }

  private Trainer merging(World world, Path folder) {
    return normed(world, NonFinite.SKIP)
        .strategy(new GradientMerge(2))
        .checkpoints(CheckpointSettings.in(folder))
        .build();
  }

  private static void steps(Trainer trainer, World world, Set<Integer> poisoned, int from, int to) {
    var shard = source(poisoned, Float.NaN).epoch(0, world.rank(), world.size());
    trainer.plannedUpdates(9);
    for (int i = from; i < to; i++) {
      try (var _ = TensorScope.open()) {
        trainer.step(shard.load(i));
      }
    }
  }

  @Test
  void windowsThatAreThrownAwayMoveNoStatistics() {
    try (var trainer = normed(World.solo(), NonFinite.STOP).build();
        var _ = TensorScope.open()) {
      var before = Snapshot.of(trainer);
      trainer.ownLoop().forwardBackward(POINTS.load(new int[] {1, 2, 3}));
      assertThat(Snapshot.of(trainer).isSameAs(before)).isFalse();
      trainer.ownLoop().clear();
      assertThat(Snapshot.of(trainer).isSameAs(before)).isTrue();
      trainer.ownLoop().forwardBackward(POINTS.load(new int[] {1, 2, 3}));
      trainer.abandonStep();
      assertThat(Snapshot.of(trainer).isSameAs(before)).isTrue();
    }
  }

  private TrainerBuilder normed(World world, NonFinite policy) {
    return trainer(world, policy).model(new NormedPerceptron(8, 16, 4));
  }

  /** An epoch makes nine updates, as one of its ten windows is left out. */
  @ParameterizedTest
  @ValueSource(ints = {10, 30})
  void aLimitCountsTheUpdatesThatWereMade(int limit) {
    var builder =
        trainer(World.solo(), NonFinite.SKIP).loop(LoopSettings.defaults().endAfterUpdates(limit));
    try (var trainer = builder.build()) {
      trainer.fit(source(Set.of(3 * BATCH), Float.NaN), 1);
      assertThat(trainer.updates()).isEqualTo(limit);
    }
  }

  @Test
  void aLimitThatDataWithoutALossTermNeverReachEndsTheRun() {
    var loop = LoopSettings.defaults().endAfterUpdates(5);
    try (var trainer =
        trainer(World.solo(), NonFinite.STOP).model(new TermlessMlp()).loop(loop).build()) {
      assertThatThrownBy(() -> trainer.fit(source(Set.of(), 0), 1))
          .isInstanceOf(NumericalException.class)
          .hasMessageContaining("had no loss term: max_steps 5 is never reached");
    }
  }

  /** A model for which no sample counts, as text in which no word is masked. */
  private record TermlessMlp() implements Model {

    private static final Model MLP = new Mlp(8, List.of(16), 4);

    @Override
    public String name() {
      return MLP.name();
    }

    @Override
    public List<Segment> segments() {
      return MLP.segments();
    }

    @Override
    public Objective objective() {
      return new Termless(MLP.objective());
    }
  }

  private record Termless(Objective inner) implements Objective {

    @Override
    public LossTerms loss(Activations outputs, Batch batch) {
      return new LossTerms(inner.loss(outputs, batch).sum().mul(new Scalar(0.0)), 0);
    }

    @Override
    public Score score(Activations outputs, Batch batch) {
      return inner.score(outputs, batch);
    }
  }

  @Test
  void skipGivesUpAfterTenWindowsInARow() {
    var all = Collections.unmodifiableSet(new java.util.TreeSet<>(everySample()));
    try (var trainer = trainer(World.solo(), NonFinite.SKIP).build()) {
      assertThatThrownBy(() -> trainer.fit(source(all, Float.NaN), 1))
          .isInstanceOf(NumericalException.class)
          .hasMessageContaining("for the 10-th accumulation window in a row");
    }
  }

  private static List<Integer> everySample() {
    return java.util.stream.IntStream.range(0, POINTS.size()).boxed().toList();
  }

  @Test
  void aMergedWindowIsJudgedAsAWholeAndBeforeTheClip() {
    var builder = trainer(World.solo(), NonFinite.SKIP);
    try (var trainer = builder.strategy(new GradientMerge(2), new ClipByNorm(0.5)).build()) {
      trainer.fit(source(Set.of(3 * BATCH), Float.NaN), 1);
      assertThat(trainer.updates()).isEqualTo(4);
      assertThat(Snapshot.of(trainer).values().values())
          .allSatisfy(values -> assertThat(values).doesNotContain(Double.NaN));
    }
  }

  @Test
  void rollbackGoesBackToTheCheckpointAndPassesOverTheData(@TempDir Path folder) {
    var outcomes =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  var builder =
                      trainer(world, NonFinite.ROLLBACK)
                          .checkpoints(CheckpointSettings.in(folder).every(2));
                  try (var trainer = builder.build()) {
                    trainer.fit(source(Set.of(5 * BATCH), Float.NaN), 1);
                    // Two updates, back from five to four, and four more.
                    assertThat(trainer.updates()).isEqualTo(8);
                    return Snapshot.of(trainer);
                  }
                });
    assertThat(outcomes.get(0).isSameAs(outcomes.get(1))).isTrue();
    assertThat(notes)
        .anySatisfy(it -> assertThat(it).contains("back to the checkpoint after update 4"));
  }

  @Test
  void rollbackWithoutACheckpointStops(@TempDir Path folder) {
    var builder =
        trainer(World.solo(), NonFinite.ROLLBACK).checkpoints(CheckpointSettings.in(folder));
    try (var trainer = builder.build()) {
      assertThatThrownBy(() -> trainer.fit(source(Set.of(BATCH), Float.NaN), 1))
          .isInstanceOf(NumericalException.class)
          .hasMessageContaining("there is no checkpoint to go back to");
    }
  }

  @Test
  void aFlippedBitOnOneOfThreeRanksIsNamedWithItsTensor() {
    Ranks.of(3)
        .callWorlds(
            world -> {
              try (var trainer = trainer(world, NonFinite.STOP).compareEvery(4).build()) {
                if (world.rank() == 2) {
                  var weight = trainer.model().parameter("fc2.weight");
                  var memory = NativeView.of(weight);
                  memory.set(
                      ValueLayout.JAVA_BYTE, 5, (byte) (memory.get(ValueLayout.JAVA_BYTE, 5) ^ 4));
                }
                assertThatThrownBy(() -> trainer.fit(source(Set.of(), 0), 1))
                    .isInstanceOf(NumericalException.class)
                    .hasMessageContaining("after update 4")
                    .hasMessageContaining("rank 2 in fc");
                return world.rank();
              }
            });
  }
}
