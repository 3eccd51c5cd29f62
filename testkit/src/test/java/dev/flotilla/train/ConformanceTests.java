package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Conformance;
import dev.flotilla.testkit.Conformance.Row;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.RecordingCollective;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs every row of the conformance table through the same checks. */
class ConformanceTests {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final int UPDATES = 30;

  private record Outcome(Snapshot weights, List<RecordingCollective.Call> calls, double loss) {}

  static Stream<Row> rows() {
    return Conformance.rows();
  }

  private static TrainerBuilder trainer(World world, List<Strategy> techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(new Momentum(0.1, 0.9))
        .strategy(techniques.toArray(Strategy[]::new))
        .threads(1)
        .loop(new LoopSettings(10, null, LoopSettings.AT_END, 64, UPDATES));
  }

  private static Outcome train(World world, List<Strategy> techniques) {
    var recorder = new AtomicReference<RecordingCollective>();
    var builder =
        trainer(world, techniques)
            .collective(
                group -> {
                  recorder.set(new RecordingCollective(group));
                  return recorder.get();
                });
    try (var trainer = builder.build()) {
      var result = trainer.fit(source(world), 1);
      return new Outcome(Snapshot.of(trainer), recorder.get().calls(), result.loss());
    }
  }

  @ParameterizedTest
  @MethodSource("rows")
  void theOrderOfTechniquesDoesNotMatter(Row row) {
    var forward = train(World.solo(), row.techniques());
    var backward = train(World.solo(), row.techniques().reversed());
    assertThat(forward.weights().isSameAs(backward.weights())).isTrue();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void oneRankKeepsItsPromiseTowardsTheBaseline(Row row) {
    var baseline = train(World.solo(), List.of());
    var outcome = train(World.solo(), row.techniques());
    switch (row.promise()) {
      case EXACT -> assertThat(outcome.weights().isSameAs(baseline.weights())).isTrue();
      case ROUNDING ->
          assertThat(outcome.weights().relativeDistance(baseline.weights())).isLessThan(1e-5);
      case ALGORITHMIC -> {
        assertThat(outcome.weights().isSameAs(baseline.weights())).isFalse();
        assertThat(outcome.loss()).isLessThan(2 * baseline.loss());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("rows")
  void ranksAgreeToTheBitAndMakeTheSameCalls(Row row) throws Exception {
    var outcomes = Ranks.of(2).callWorlds(world -> train(world, row.techniques()));
    assertThat(outcomes.get(0).weights().isSameAs(outcomes.get(1).weights())).isTrue();
    assertThat(outcomes.get(0).calls()).isEqualTo(outcomes.get(1).calls());
    boolean isLocal = row.techniques().stream().anyMatch(Strategy::letsRanksDiffer);
    assertThat(outcomes.get(0).calls())
        .hasSizeGreaterThanOrEqualTo(isLocal ? UPDATES / 4 : UPDATES);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void twoRanksEqualOneRankToRounding(Row row) throws Exception {
    var one = train(World.solo(), row.techniques());
    var two = Ranks.of(2).callWorlds(world -> train(world, row.techniques())).getFirst();
    assertThat(two.weights().relativeDistance(one.weights())).isLessThan(row.rounding());
  }

  @ParameterizedTest
  @MethodSource("rows")
  void oneRankThatWasStoppedGoesOnAsIfItNeverWas(Row row, @TempDir Path folder) {
    var whole = train(World.solo(), row.techniques());
    stopInsideAWindow(World.solo(), row.techniques(), folder);
    var resumed = goOn(World.solo(), row.techniques(), folder);
    assertThat(resumed.isSameAs(whole.weights())).isTrue();
  }

  @ParameterizedTest
  @MethodSource("rows")
  void twoRanksThatWereStoppedGoOnAsIfTheyNeverWere(Row row, @TempDir Path folder) {
    var whole = Ranks.of(2).callWorlds(world -> train(world, row.techniques())).getFirst();
    Ranks.of(2).callWorlds(world -> stopInsideAWindow(world, row.techniques(), folder));
    var resumed = Ranks.of(2).callWorlds(world -> goOn(world, row.techniques(), folder)).getFirst();
    assertThat(resumed.isSameAs(whole.weights())).isTrue();
  }

  /** Stops after 11 micro-steps, which is inside a window where there are windows. */
  private static long stopInsideAWindow(World world, List<Strategy> techniques, Path folder) {
    try (var trainer = savingTrainer(world, techniques, folder)) {
      trainer.link(new StopsAfter(10));
      assertThatThrownBy(() -> trainer.fit(source(world), 1)).isInstanceOf(StoppedException.class);
      return trainer.microSteps();
    }
  }

  private static Snapshot goOn(World world, List<Strategy> techniques, Path folder) {
    try (var trainer = savingTrainer(world, techniques, folder)) {
      assertThat(trainer.resume(folder)).isPresent();
      assertThat(trainer.microSteps()).isEqualTo(11);
      trainer.fit(source(world), 1);
      return Snapshot.of(trainer);
    }
  }

  private static Trainer savingTrainer(World world, List<Strategy> techniques, Path folder) {
    return trainer(world, techniques).checkpoints(CheckpointSettings.in(folder)).build();
  }

  private static BatchSource source(World world) {
    return POINTS.batches(32 / world.size()).shuffled(7);
  }

  @ParameterizedTest
  @MethodSource("rows")
  void nativeObjectsStayFlatFromStepTenToFifty(Row row) {
    try (var trainer = trainer(World.solo(), row.techniques()).build()) {
      var shard = POINTS.batches(8).shuffled(1).epoch(0, 0, 1);
      long atTen = 0;
      for (int step = 1; step <= 50; step++) {
        try (var _ = TensorScope.open()) {
          trainer.step(shard.load(step));
        }
        atTen = step == 10 ? Pointer.totalCount() : atTen;
      }
      assertThat(Pointer.totalCount()).isEqualTo(atTen);
    }
  }
}
