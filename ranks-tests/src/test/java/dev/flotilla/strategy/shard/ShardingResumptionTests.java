package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.collective.Collective;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Every;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Slices that were saved are the optimizer's memory, whoever takes them up.
 *
 * <p>Runs without sharding add in the order of ranks, so the same number of ranks gives the same
 * bits with it and without.
 */
class ShardingResumptionTests {

  private static final ColouredPoints POINTS = new ColouredPoints(240, 8, 4);
  private static final int SAVED = 9;
  private static final int UPDATES = 20;
  private static final Optimizer ADAM = new Adam(0.01, List.of(0.9, 0.999), 1e-8, 1e-3);
  private static final Optimizer ADAM_W = new AdamW(0.01, List.of(0.9, 0.999), 1e-8, 1e-2);
  private static final Optimizer MOMENTUM = new Momentum(0.05, 0.9, true, 1e-3);

  /** Whether a run is sharded, and by which stage. */
  enum Kind {
    PLAIN,
    STAGE_1,
    STAGE_2,
    STAGE_3,
    STAGE_3_OFFLOADED;

    /** Where slices lie is nothing that a checkpoint knows, so one kind goes for both. */
    static final List<Kind> STAGES = List.of(PLAIN, STAGE_1, STAGE_2, STAGE_3);

    Strategy[] techniques() {
      return switch (this) {
        case PLAIN -> new Strategy[0];
        case STAGE_3_OFFLOADED ->
            new Strategy[] {new Sharding(3).withOffload(Offload.OPTIMIZER_AND_PARAMETERS)};
        default -> new Strategy[] {new Sharding(ordinal())};
      };
    }

    Collective group(Collective all) {
      return this == PLAIN ? RankOrder.of(all) : all;
    }
  }

  @TempDir Path folder;
  private final List<String> notes = Collections.synchronizedList(new ArrayList<>());

  private TrainerBuilder trainer(
      World world, Kind kind, Optimizer optimizer, Precision precision, Path out) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(33, 17), 4))
        .optimizer(optimizer)
        .precision(precision)
        .strategy(kind.techniques())
        .collective(kind::group)
        .threads(1)
        .checkpoints(CheckpointSettings.in(out))
        .events(this::listen);
  }

  private void listen(TrainingEvent event) {
    if (event instanceof TrainingEvent.Noted(var text)) {
      notes.add(text);
    }
  }

  private static BatchSource source() {
    return BatchSource.global(POINTS, 24).shuffled(7);
  }

  private static LoopSettings until(int updates) {
    return LoopSettings.defaults().logEach(Every.updates(updates)).endAfterUpdates(updates);
  }

  private Snapshot fit(
      int ranks, Kind kind, Optimizer optimizer, Precision precision, int updates, Path out) {
    return same(
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  var builder = trainer(world, kind, optimizer, precision, out);
                  try (var trainer = builder.loop(until(updates)).build()) {
                    trainer.fit(source(), 1);
                    return Snapshot.of(trainer);
                  }
                }));
  }

  private Snapshot goOn(
      int ranks, Kind kind, Optimizer optimizer, Precision precision, Path from, Path out) {
    return same(
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  var builder = trainer(world, kind, optimizer, precision, out);
                  try (var trainer = builder.loop(until(UPDATES)).build()) {
                    assertThat(trainer.resume(from)).isPresent();
                    trainer.fit(source(), 1);
                    return Snapshot.of(trainer);
                  }
                }));
  }

  private static Snapshot same(List<Snapshot> all) {
    assertThat(all).allMatch(all.getFirst()::isSameAs);
    return all.getFirst();
  }

  /** Other slices than were saved; what else is kept for an optimizer is kept for Adam. */
  static Stream<Arguments> optimizersAndRanks() {
    return Stream.of(Arguments.of(ADAM, 3));
  }

  static Stream<Arguments> others() {
    return Stream.concat(
        Stream.of(Arguments.of(ADAM, 1), Arguments.of(ADAM, 2)),
        Stream.of(ADAM_W, MOMENTUM)
            .flatMap(optimizer -> Stream.of(1, 2, 3).map(ranks -> Arguments.of(optimizer, ranks))));
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("others")
  void whatOthersSavedIsSlicedAnew(Optimizer optimizer, int ranks) {
    whatWasSavedIsSlicedAnew(optimizer, ranks);
  }

  /**
   * Two ranks save, with sharding and without; from either, more and fewer ranks go on, with it and
   * without. All four must have begun with the same memory.
   */
  @ParameterizedTest
  @MethodSource("optimizersAndRanks")
  void whatWasSavedIsSlicedAnew(Optimizer optimizer, int ranks) {
    var float32 = Precision.FLOAT32;
    List<Snapshot> all = new ArrayList<>();
    for (var before : Kind.STAGES) {
      var saved = folder.resolve(before.name());
      fit(2, before, optimizer, float32, SAVED, saved);
      for (var after : Kind.STAGES) {
        var out = folder.resolve(before + " then " + after);
        all.add(goOn(ranks, after, optimizer, float32, saved, out));
      }
    }
    if (ranks == 2) {
      all.add(fit(2, Kind.PLAIN, optimizer, float32, UPDATES, folder.resolve("whole")));
    } else {
      assertThat(notes)
          .anySatisfy(it -> assertThat(it).contains("saved by 2 ranks, restored by " + ranks));
    }
    same(all);
  }

  @ParameterizedTest
  @CsvSource({"STAGE_3, STAGE_3_OFFLOADED", "STAGE_3_OFFLOADED, PLAIN"})
  void slicesBesideTheDeviceAreSavedAndTakenUp(Kind first, Kind second) {
    var float32 = Precision.FLOAT32;
    var whole = fit(2, Kind.PLAIN, ADAM, float32, UPDATES, folder.resolve("whole"));
    var saved = folder.resolve("saved");
    fit(2, first, ADAM, float32, SAVED, saved);
    var resumed = goOn(2, second, ADAM, float32, saved, folder.resolve("resumed"));
    assertThat(resumed.isSameAs(whole)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "2, STAGE_1, 3, STAGE_1",
    "2, STAGE_1, 1, STAGE_2",
    "3, STAGE_2, 2, STAGE_1",
    "1, STAGE_1, 3, STAGE_3",
    "3, STAGE_3, 2, STAGE_2",
    "2, STAGE_2, 3, STAGE_2"
  })
  void anotherNumberOfRanksIsWithinRounding(int before, Kind first, int after, Kind second) {
    var float64 = Precision.FLOAT64;
    var whole = fit(1, Kind.PLAIN, ADAM, float64, UPDATES, folder.resolve("whole"));
    var saved = folder.resolve("saved");
    fit(before, first, ADAM, float64, SAVED, saved);
    var resumed = goOn(after, second, ADAM, float64, saved, folder.resolve("resumed"));
    assertThat(resumed.relativeDistance(whole)).isLessThan(1e-12);
  }

  /** Nothing has been sent of what an accumulation window holds, so the bits are the same. */
  @ParameterizedTest
  @CsvSource({"2, 2", "2, 3", "3, 1"})
  void theMiddleOfAWindowIsTakenUp(int before, int after) {
    List<Snapshot> all = new ArrayList<>();
    for (var first : List.of(Kind.PLAIN, Kind.STAGE_1)) {
      for (var second : List.of(Kind.PLAIN, Kind.STAGE_1)) {
        var out = folder.resolve(first + " then " + second);
        steps(before, first, Precision.FLOAT32, 0, 7, out);
        all.add(steps(after, second, Precision.FLOAT32, 7, 12, out));
      }
    }
    if (before == after) {
      var whole = folder.resolve("whole");
      all.add(steps(before, Kind.PLAIN, Precision.FLOAT32, 0, 12, whole));
    }
    same(all);
  }

  /**
   * Stages 2 and 3 have reduced every micro-step, so what they have of a window is a sum already.
   */
  @ParameterizedTest
  @CsvSource({
    "2, STAGE_2, 2, STAGE_2",
    "2, STAGE_2, 3, STAGE_2",
    "3, STAGE_2, 2, STAGE_2",
    "2, STAGE_2, 2, PLAIN",
    "2, STAGE_2, 1, PLAIN",
    "2, PLAIN, 2, STAGE_2",
    "2, STAGE_3, 2, STAGE_3",
    "2, STAGE_3, 3, STAGE_1",
    "2, STAGE_1, 3, STAGE_2"
  })
  void theMiddleOfAReducedWindowIsTakenUp(int before, Kind first, int after, Kind second) {
    var float64 = Precision.FLOAT64;
    var plain = folder.resolve("plain");
    steps(before, Kind.PLAIN, float64, 0, 7, plain);
    var expected = steps(after, Kind.PLAIN, float64, 7, 12, plain);
    var saved = folder.resolve("saved");
    steps(before, first, float64, 0, 7, saved);
    assertThat(steps(after, second, float64, 7, 12, saved).relativeDistance(expected))
        .isLessThan(1e-12);
  }

  private Snapshot steps(int ranks, Kind kind, Precision precision, int first, int end, Path out) {
    return same(
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  var builder =
                      trainer(world, kind, ADAM, precision, out).strategy(new GradientMerge(4));
                  try (var trainer = builder.build()) {
                    assertThat(trainer.resume(out).isPresent()).isEqualTo(first > 0);
                    for (int i = first; i < end; i++) {
                      step(trainer, i, world.rank());
                    }
                    trainer.save();
                    trainer.awaitSave();
                    trainer.averageParameters();
                    return Snapshot.of(trainer);
                  }
                }));
  }

  private static void step(Trainer trainer, int i, int rank) {
    try (var _ = TensorScope.open()) {
      int from = 24 * i % 216 + 8 * rank;
      trainer.step(POINTS.load(IntStream.range(from, from + 8).toArray()));
    }
  }
}
