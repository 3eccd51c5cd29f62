package dev.flotilla.booster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.PublishedWeights;
import dev.flotilla.collective.CollectiveException;
import dev.flotilla.collective.Traffic;
import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Every;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class BoosterTests {

  private static final int ACCUMULATION = 4;
  private static final int UPDATES = 10;
  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final BatchSource SOURCE = POINTS.batches(6).shuffled(3);

  private static TrainerBuilder mlp(World world) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(33, 17), 4))
        .optimizer(new Momentum(0.05, 0.9, true, 1e-3))
        .schedule(new Cosine())
        .threads(1);
  }

  private static Snapshot fit(int ranks, Strategy... techniques) {
    return same(
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer =
                      mlp(world)
                          .strategy(new GradientMerge(ACCUMULATION))
                          .strategy(techniques)
                          .loop(
                              LoopSettings.defaults()
                                  .logEach(Every.updates(UPDATES))
                                  .endAfterUpdates(UPDATES))
                          .build()) {
                    trainer.fit(SOURCE, 100);
                    return Snapshot.of(trainer);
                  }
                }));
  }

  private static Snapshot same(List<Snapshot> ranks) {
    assertThat(ranks).allMatch(each -> each.isSameAs(ranks.getFirst()));
    return ranks.getFirst();
  }

  private static Snapshot snapshot(Boosted boosted) {
    boosted.trainer().averageParameters();
    return Snapshot.of(boosted.trainer());
  }

  /** How a loop tells of its boundary. */
  private enum Boundary {
    /** Afterwards. */
    STEP,
    /** With the last batch, so that gradients leave during backward. */
    STEP_WITH_BATCH
  }

  private static Snapshot boost(int ranks, Plugin plugin, Boundary boundary) {
    return same(
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var boosted = Booster.with(plugin).boost(mlp(world))) {
                    boosted.plannedUpdates(UPDATES);
                    run(boosted, boosted.prepare(SOURCE), UPDATES, boundary);
                    return snapshot(boosted);
                  }
                }));
  }

  /** Trains until so many updates are made, from wherever it is; windows do not cross epochs. */
  private static void run(Boosted boosted, PreparedData data, int updates, Boundary boundary) {
    assertThat(data.batches() % ACCUMULATION).isZero();
    while (boosted.updates() < updates) {
      long made = boosted.microSteps();
      for (var batch : data.epoch(made / data.batches(), made % data.batches())) {
        if ((boosted.microSteps() + 1) % ACCUMULATION != 0) {
          boosted.forwardBackward(batch);
        } else if (boundary == Boundary.STEP) {
          boosted.forwardBackward(batch);
          boosted.step();
        } else {
          boosted.step(batch);
        }
        if (boosted.updates() == updates) {
          break;
        }
      }
    }
  }

  @Test
  void dataParallelGivesTheBitsOfATrainerWithTheSameSettings() {
    var fitted = fit(2, new FuseAllReduce().sized(0.001));
    var plugin = new DataParallel().withBucketMb(0.001);
    assertThat(boost(2, plugin, Boundary.STEP).isSameAs(fitted)).isTrue();
    assertThat(boost(2, plugin, Boundary.STEP_WITH_BATCH).isSameAs(fitted)).isTrue();
  }

  @Test
  void mixedPrecisionIsTheTrainersToo() {
    var fitted = fit(2, new FuseAllReduce(), new MixedPrecision(Dtype.BF16));
    var plugin = new DataParallel().withPrecision(Dtype.BF16);
    assertThat(boost(2, plugin, Boundary.STEP).isSameAs(fitted)).isTrue();
  }

  static Stream<Plugin> sharded() {
    return Stream.of(
        new LowLevelZero(1).withBucketMb(0.001),
        new LowLevelZero(2),
        new LowLevelZero(new Sharding(2, true)),
        new Chunked());
  }

  @ParameterizedTest
  @MethodSource("sharded")
  void shardedPluginsArePlainWithinRounding(Plugin plugin) {
    var fitted = fit(2);
    for (var boundary : Boundary.values()) {
      assertThat(boost(2, plugin, boundary).relativeDistance(fitted)).isLessThan(1e-6);
    }
  }

  @Test
  void lowLevelZeroClipsByTheNormOverAllSlices() {
    var sharded = boost(2, new LowLevelZero(1).withMaxNorm(0.05), Boundary.STEP);
    assertThat(sharded.relativeDistance(fit(2, new ClipByNorm(0.05)))).isLessThan(1e-6);
    assertThat(sharded.relativeDistance(fit(2))).isGreaterThan(1e-3);
  }

  static Stream<Plugin> plugins() {
    return Stream.of(new DataParallel(), new LowLevelZero(1), new LowLevelZero(2), new Chunked());
  }

  @ParameterizedTest
  @MethodSource("plugins")
  void aLoadedCheckpointGoesOnToTheSameBits(Plugin plugin, @TempDir Path folder) {
    var settings = CheckpointSettings.in(folder);
    Ranks.of(2)
        .callWorlds(
            world -> {
              try (var boosted = Booster.with(plugin).boost(mlp(world).checkpoints(settings))) {
                boosted.plannedUpdates(UPDATES);
                assertThat(boosted.load(folder)).isEmpty();
                var data = boosted.prepare(SOURCE);
                run(boosted, data, 4, Boundary.STEP);
                // Into the middle of a window.
                boosted.forwardBackward(data.epoch(0, 16).iterator().next());
                boosted.save();
                return boosted.microSteps();
              }
            });
    var whole = boost(2, plugin, Boundary.STEP);
    var made =
        same(
            Ranks.of(2)
                .callWorlds(
                    world -> {
                      try (var boosted =
                          Booster.with(plugin).boost(mlp(world).checkpoints(settings))) {
                        boosted.plannedUpdates(UPDATES);
                        assertThat(boosted.load(folder)).isPresent();
                        assertThat(boosted.updates()).isEqualTo(4);
                        assertThat(boosted.microSteps()).isEqualTo(17);
                        run(boosted, boosted.prepare(SOURCE), UPDATES, Boundary.STEP);
                        return snapshot(boosted);
                      }
                    }));
    assertThat(made.isSameAs(whole)).isTrue();
  }

  @ParameterizedTest
  @MethodSource("plugins")
  void weightsAreWrittenWhole(Plugin plugin, @TempDir Path folder) {
    var file = folder.resolve("model.safetensors");
    Ranks.of(2)
        .callWorlds(
            world -> {
              try (var boosted = Booster.with(plugin).boost(mlp(world))) {
                boosted.plannedUpdates(UPDATES);
                run(boosted, boosted.prepare(SOURCE), 2, Boundary.STEP);
                boosted.saveModel(file);
                boosted.trainer().averageParameters();
                var before = Snapshot.of(boosted.trainer());
                try (var weights = PublishedWeights.open(file)) {
                  var fit = weights.fit(boosted.trainer().model().state(), Map.of());
                  fit.requireExact();
                  fit.copy();
                }
                assertThat(Snapshot.of(boosted.trainer()).isSameAs(before)).isTrue();
                return boosted.evaluate(POINTS).score().acc1();
              }
            });
  }

  static Stream<Plugin> silent() {
    return Stream.of(
        new DataParallel(), new LowLevelZero(1), new LowLevelZero(new Sharding(2, true)));
  }

  @ParameterizedTest
  @MethodSource("silent")
  void nothingIsSentBeforeTheBoundary(Plugin plugin) {
    var sent =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var boosted = Booster.with(plugin).boost(mlp(world))) {
                    boosted.plannedUpdates(UPDATES);
                    List<Boolean> grown = new ArrayList<>();
                    long before = sent(boosted);
                    for (var batch : boosted.prepare(SOURCE).epoch(0)) {
                      if (grown.size() < 3) {
                        try (var _ = boosted.noSync()) {
                          boosted.forwardBackward(batch);
                        }
                      } else {
                        boosted.step(batch);
                      }
                      grown.add(sent(boosted) > before);
                      before = sent(boosted);
                      if (grown.size() == 4) {
                        break;
                      }
                    }
                    return grown;
                  }
                });
    assertThat(sent).allSatisfy(it -> assertThat(it).containsExactly(false, false, false, true));
  }

  private static long sent(Boosted boosted) {
    return boosted.trainer().collective().count(Traffic.EXCHANGE).operations();
  }

  @Test
  void everySampleComesOncePerEpoch() {
    var numbers =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var boosted = Booster.with(new DataParallel()).boost(mlp(world))) {
                    var source = new ColouredPoints(31, 8, 4).batches(4).shuffled(1);
                    var data = boosted.prepare(source);
                    var dropping = boosted.prepare(source.dropLast());
                    assertThat(dropping.batches()).isEqualTo(3);
                    assertThat(samples(dropping)).isEqualTo(12);
                    assertThatThrownBy(() -> data.epoch(0, 5))
                        .hasMessageContaining("first batch in [0, 4], but they were 0 and 5");
                    return samples(data);
                  }
                });
    assertThat(numbers.stream().mapToInt(Integer::intValue).sum()).isEqualTo(31);
  }

  private static int samples(PreparedData data) {
    int samples = 0;
    for (var batch : data.epoch(0)) {
      assertThat(batch.inputs().getFirst().size(0)).isEqualTo(batch.samples());
      samples += batch.samples();
    }
    return samples;
  }

  @Test
  void aLossOfOnesOwnMovesTheModel() {
    try (var boosted = Booster.with(new DataParallel()).boost(mlp(World.solo()));
        var _ = TensorScope.open()) {
      boosted.plannedUpdates(2);
      var weight = boosted.trainer().model().parameter("fc1.weight");
      assertThat(boosted.backward(new LossTerms(weight.square().sum(), 5)).count()).isEqualTo(5);
      assertThat(boosted.step().updated()).isTrue();
      boosted.backward(new LossTerms(weight.square().sum(), 5));
      boosted.clear();
      assertThat(boosted.step().updated()).isFalse();
    }
  }

  @Test
  void plansOfTheLoopHaveOneOwner() {
    assertThatThrownBy(
            () ->
                Booster.with(new DataParallel())
                    .boost(mlp(World.solo()).strategy(new GradientMerge(4))))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("already decides when to update");
  }

  @Test
  void aPluginThatMustCommunicateRefusesNoSyncWithTheReason() {
    try (var boosted = Booster.with(new LowLevelZero(2)).boost(mlp(World.solo()))) {
      assertThatThrownBy(boosted::noSync)
          .isInstanceOf(IllegalStateException.class)
          .hasMessage(
              "noSync cannot be kept: at stage 2 a rank keeps slices of the gradients alone, so"
                  + " each micro-step must reduce its own; leave out noSync, as micro-steps add up"
                  + " until step without it, or use stage 1 or new Sharding(2, true), which send"
                  + " nothing before step");
    }
    assertThat(new Chunked().refusalOfNoSync())
        .hasValueSatisfying(it -> assertThat(it).contains("stage 3"));
    assertThat(new LowLevelZero(1).refusalOfNoSync()).isEmpty();
    assertThat(new LowLevelZero(new Sharding(2, true)).refusalOfNoSync()).isEmpty();
  }

  @Test
  void misuseIsNamed() {
    var boosted = Booster.with(new LowLevelZero()).boost(mlp(World.solo()));
    try (boosted) {
      boosted.plannedUpdates(UPDATES);
      var stretch = boosted.noSync();
      try (var _ = boosted.noSync()) {
        assertThatThrownBy(boosted::step).hasMessageContaining("step was called inside noSync");
      }
      assertThatThrownBy(() -> boosted.step(Batch.empty()))
          .hasMessageContaining("step was called inside noSync");
      stretch.close();
      stretch.close();
      assertThat(boosted.step().updated()).isFalse();
      assertThatThrownBy(boosted::save).hasMessageContaining("call checkpoints(...)");
    }
    boosted.close();
    assertThatThrownBy(() -> boosted.forwardBackward(Batch.empty()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("forwardBackward was called after close");
    assertThatThrownBy(boosted::step).hasMessageContaining("step was called after close");
  }

  @Test
  void settingsAreChecked() {
    assertThatThrownBy(() -> new LowLevelZero(9))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("stage")
        .hasMessageContaining("9");
    assertThatThrownBy(() -> new Chunked(new Sharding(1), Dtype.FP32, 0))
        .hasMessageContaining("must be 3, but was 1");
    assertThatThrownBy(() -> new LowLevelZero().withPrecision(Dtype.INT8))
        .hasMessageContaining("must be fp32, bf16 or fp16, but was int8");
    assertThatThrownBy(() -> new LowLevelZero().withMaxNorm(-1))
        .hasMessageContaining("must be greater than 0, or 0 for no clipping");
    assertThatThrownBy(() -> new DataParallel().withBucketMb(0))
        .hasMessageContaining("must be greater than 0");
  }

  @Test
  void oneRankPreparesFirst() {
    List<Integer> order = new CopyOnWriteArrayList<>();
    var told =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var boosted = Booster.with(new DataParallel()).boost(mlp(world))) {
                    boosted.priority(() -> order.add(world.localRank()));
                    boosted.priority(
                        () -> {
                          if (world.localRank() == 0) {
                            throw new IllegalArgumentException("no data here");
                          }
                          return world;
                        });
                    return "nothing";
                  } catch (IllegalArgumentException own) {
                    return String.valueOf(own.getMessage());
                  } catch (CollectiveException others) {
                    return String.valueOf(others.getMessage());
                  }
                });
    assertThat(order).containsExactly(0, 1);
    assertThat(told.get(0)).isEqualTo("no data here");
    assertThat(told.get(1))
        .startsWith("rank 0 failed: java.lang.IllegalArgumentException: no data here");
  }

  @Test
  void aBatchIsFreedWithTheNextAndTheLastAtTheEnd() {
    List<Tensor> seen = new ArrayList<>();
    try (var boosted = Booster.with(new DataParallel()).boost(mlp(World.solo()))) {
      for (var batch : boosted.prepare(SOURCE).epoch(0)) {
        assertThat(seen).noneMatch(BoosterTests::isAlive);
        seen.add(batch.targets());
        seen.add(batch.inputs().getFirst());
        assertThat(isAlive(batch.targets())).isTrue();
        if (seen.size() == 6) {
          break;
        }
      }
    }
    assertThat(seen).hasSize(6).noneMatch(BoosterTests::isAlive);
  }

  private static boolean isAlive(Tensor tensor) {
    return tensor.referenceCount() > 0;
  }
}
