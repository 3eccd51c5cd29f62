package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.collective.Collective;
import dev.flotilla.optim.Adam;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.ema.Ema;
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
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A moving average that lies in slices is the one that every rank would hold. */
class ShardedEmaTests {

  private static final ColouredPoints POINTS = new ColouredPoints(240, 8, 4);
  private static final Ema EMA = new Ema(0.9).withWarmup();

  private record Outcome(Snapshot weights, Snapshot average, Evaluation evaluation) {}

  private static TrainerBuilder trainer(World world, Strategy... techniques) {
    boolean isSharded = Stream.of(techniques).anyMatch(Sharding.class::isInstance);
    return Trainer.on(world)
        .model(new Mlp(8, List.of(33, 17), 4))
        .optimizer(new Adam(0.01, List.of(0.9, 0.999), 1e-8, 1e-3))
        .strategy(techniques)
        .collective(group -> isSharded ? group : inOrder(group))
        .threads(1)
        .events(_ -> {})
        .loop(
            LoopSettings.defaults().evaluateOn(POINTS).each(Every.updates(7)).endAfterUpdates(25));
  }

  private static Collective inOrder(Collective group) {
    return group.size() == 1 ? group : RankOrder.of(group);
  }

  private static Outcome fit(int ranks, Strategy... techniques) {
    var all =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, techniques).build()) {
                    var result = trainer.fit(POINTS.batches(12).shuffled(3), 100);
                    var average = Snapshot.ofEma(trainer);
                    return new Outcome(
                        Snapshot.of(trainer), average, result.evaluation().orElseThrow());
                  }
                });
    assertThat(all).allMatch(each -> each.average().isSameAs(all.getFirst().average()));
    assertThat(all).allMatch(each -> each.weights().isSameAs(all.getFirst().weights()));
    assertThat(all).extracting(Outcome::evaluation).containsOnly(all.getFirst().evaluation());
    return all.getFirst();
  }

  static Stream<Sharding> stages() {
    return Stream.of(
        new Sharding(1),
        new Sharding(2),
        new Sharding(3),
        new Sharding(3).withOffload(Offload.OPTIMIZER_AND_PARAMETERS));
  }

  /** Three ranks have slices of different lengths; evaluations come in the midst of training. */
  @ParameterizedTest
  @MethodSource("stages")
  void slicesGiveTheSameBits(Sharding sharding) {
    int merge = sharding.stage() == 1 ? 2 : 1;
    var plain = fit(3, EMA, new GradientMerge(merge));
    var sharded = fit(3, EMA, new GradientMerge(merge), sharding);
    assertThat(sharded.weights().isSameAs(plain.weights())).isTrue();
    assertThat(sharded.average().isSameAs(plain.average())).isTrue();
    assertThat(sharded.evaluation()).isEqualTo(plain.evaluation());
    assertThat(plain.average().relativeDistance(plain.weights())).isGreaterThan(1e-3);
  }

  /** Saved inside a run, and taken up by others: whole, by slices, by slices of another cut. */
  @ParameterizedTest
  @CsvSource({"3, 2, 0, 3", "2, 3, 3, 1", "0, 1, 3, 2", "1, 2, 2, 1", "3, 2, 3, 2"})
  void whoeverTakesItUpHasTheSame(
      int stage, int ranks, int laterStage, int laterRanks, @TempDir Path folder) {
    var saved = Ranks.of(ranks).callWorlds(world -> save(world, folder, stage)).getFirst();
    var loaded = Ranks.of(laterRanks).callWorlds(world -> load(world, folder, laterStage));
    assertThat(loaded).allMatch(each -> each.average().isSameAs(saved.average()));
    assertThat(loaded).allMatch(each -> each.weights().isSameAs(saved.weights()));
    assertThat(saved.average().isSameAs(saved.weights())).isFalse();
  }

  private static Strategy[] techniques(int stage) {
    return stage == 0 ? new Strategy[] {EMA} : new Strategy[] {EMA, new Sharding(stage)};
  }

  private static Outcome save(World world, Path folder, int stage) {
    try (var trainer =
        trainer(world, techniques(stage))
            .checkpoints(CheckpointSettings.in(folder))
            .loop(LoopSettings.defaults().endAfterUpdates(9))
            .build()) {
      trainer.fit(POINTS.batches(12 / world.size()).shuffled(3), 100);
      return look(trainer);
    }
  }

  private static Outcome load(World world, Path folder, int stage) {
    try (var trainer = trainer(world, techniques(stage)).build()) {
      assertThat(trainer.resume(folder)).isPresent();
      return look(trainer);
    }
  }

  private static Outcome look(Trainer trainer) {
    var weights = Objects.requireNonNull(trainer.read(_ -> Snapshot.of(trainer)));
    return new Outcome(weights, Snapshot.ofEma(trainer), trainer.evaluate(POINTS));
  }
}
