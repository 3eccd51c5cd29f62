package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.CheckpointException;
import dev.flotilla.checkpoint.WeightsDigest;
import dev.flotilla.collective.Collective;
import dev.flotilla.data.Batch;
import dev.flotilla.data.RankShard;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Adam;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Lamb;
import dev.flotilla.optim.Lars;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Every;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A model whose state is shared out learns what one learns that every rank holds. */
class ShardingTests {

  private static final int UPDATES = 20;
  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final Map<String, Snapshot> PLAIN = new HashMap<>();

  /** Three ranks have slices of different lengths, and sums that depend on their order. */
  static Stream<Arguments> exact() {
    return exactOn(3);
  }

  static Stream<Arguments> exactOnMore() {
    return Stream.concat(exactOn(2), exactOn(4));
  }

  private static Stream<Arguments> exactOn(int ranks) {
    return Stream.concat(
        optimizers().map(optimizer -> Arguments.of(1, ranks, optimizer, 4)),
        Stream.of(1, 2, 3)
            .flatMap(
                stage -> optimizers().map(optimizer -> Arguments.of(stage, ranks, optimizer, 1))));
  }

  private static Stream<Arguments> rounded() {
    return roundedOn(3);
  }

  /** Slices of different lengths, with the optimizer that remembers most. */
  static Stream<Arguments> roundedWithAdam() {
    return rounded().filter(it -> it.get()[2] instanceof Adam);
  }

  static Stream<Arguments> roundedWithOthers() {
    return Stream.of(
            rounded().filter(it -> !(it.get()[2] instanceof Adam)), roundedOn(2), roundedOn(4))
        .flatMap(it -> it);
  }

  private static Stream<Arguments> roundedOn(int ranks) {
    return Stream.of(1, 2, 3)
        .flatMap(stage -> optimizers().map(optimizer -> Arguments.of(stage, ranks, optimizer, 4)));
  }

  private static Stream<Optimizer> optimizers() {
    return Stream.of(
        new Momentum(0.05, 0.9, true, 1e-3),
        new Adam(1e-2, List.of(0.9, 0.999), 1e-8, 1e-3),
        new AdamW(1e-2, List.of(0.9, 0.999), 1e-8, 1e-2));
  }

  /** Norms of parameters that no rank holds whole. */
  static Stream<Arguments> layerwise() {
    return Stream.of(1, 2, 3)
        .flatMap(
            stage ->
                Stream.of(
                        new Lamb(1e-2, List.of(0.9, 0.999), 1e-6, 1e-2, false, true),
                        new Lars(1, 0.9, true, 0.02, 1e-8, 1e-3, false, false))
                    .map(optimizer -> Arguments.of(stage, optimizer)));
  }

  private static Snapshot train(
      int ranks,
      Optimizer optimizer,
      Precision precision,
      UnaryOperator<Collective> group,
      Strategy... techniques) {
    var all =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer =
                      Trainer.on(world)
                          .model(new Mlp(8, List.of(33, 17), 4))
                          .optimizer(optimizer)
                          .precision(precision)
                          .strategy(techniques)
                          .collective(group)
                          .threads(1)
                          .loop(
                              LoopSettings.defaults()
                                  .logEach(Every.updates(UPDATES))
                                  .endAfterUpdates(UPDATES))
                          .build()) {
                    trainer.fit(POINTS.batches(12).shuffled(3), 100);
                    return Snapshot.of(trainer);
                  }
                });
    assertThat(all).allMatch(each -> each.isSameAs(all.getFirst()));
    return all.getFirst();
  }

  /** Returns what a run without sharding comes to; each stage is compared with the same one. */
  private static Snapshot plain(String what, Supplier<Snapshot> run) {
    return PLAIN.computeIfAbsent(what, _ -> run.get());
  }

  /** The sums of both are added in the order of ranks. */
  @ParameterizedTest
  @MethodSource("exact")
  void slicesGiveTheSameBits(int stage, int ranks, Optimizer optimizer, int merge) {
    var plain =
        plain(
            "in rank order, %d ranks, %s, merge %d".formatted(ranks, optimizer, merge),
            () ->
                train(
                    ranks, optimizer, Precision.FLOAT32, RankOrder::of, new GradientMerge(merge)));
    var sharded =
        train(
            ranks,
            optimizer,
            Precision.FLOAT32,
            group -> group,
            new GradientMerge(merge),
            new Sharding(stage));
    assertThat(sharded.isSameAs(plain)).isTrue();
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("exactOnMore")
  void slicesOfTwoAndFourRanksGiveTheSameBits(
      int stage, int ranks, Optimizer optimizer, int merge) {
    slicesGiveTheSameBits(stage, ranks, optimizer, merge);
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("roundedWithOthers")
  void clippedAndMergedSlicesOfMoreAreWithinRounding(
      int stage, int ranks, Optimizer optimizer, int merge) {
    clippedAndMergedSlicesAreWithinRounding(stage, ranks, optimizer, merge);
  }

  @ParameterizedTest
  @MethodSource("roundedWithAdam")
  void clippedAndMergedSlicesAreWithinRounding(
      int stage, int ranks, Optimizer optimizer, int merge) {
    Strategy[] both = {new GradientMerge(merge), new ClipByNorm(0.5)};
    var plain =
        plain(
            "clipped, %d ranks, %s, merge %d".formatted(ranks, optimizer, merge),
            () -> train(ranks, optimizer, Precision.FLOAT64, group -> group, both));
    var sharded =
        train(
            ranks,
            optimizer,
            Precision.FLOAT64,
            group -> group,
            both[0],
            both[1],
            new Sharding(stage));
    assertThat(sharded.relativeDistance(plain)).isLessThan(1e-13);
  }

  @ParameterizedTest
  @MethodSource("layerwise")
  void normsOfParametersAreThoseOverAllSlices(int stage, Optimizer optimizer) {
    var plain =
        plain(
            "3 ranks, " + optimizer, () -> train(3, optimizer, Precision.FLOAT64, group -> group));
    var sharded = train(3, optimizer, Precision.FLOAT64, group -> group, new Sharding(stage));
    assertThat(sharded.relativeDistance(plain)).isLessThan(1e-12);
  }

  @ParameterizedTest
  @CsvSource({"1, 3", "2, 3", "3, 3"})
  void momentumInFloat32IsWithinRounding(int stage, int ranks) {
    var optimizer = new Momentum(0.05, 0.9, true, 1e-3);
    var plain =
        plain(
            "float32, %d ranks".formatted(ranks),
            () -> train(ranks, optimizer, Precision.FLOAT32, group -> group));
    var sharded = train(ranks, optimizer, Precision.FLOAT32, group -> group, new Sharding(stage));
    assertThat(sharded.relativeDistance(plain)).isLessThan(1e-6);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"1, 2", "2, 2", "3, 2", "1, 4", "2, 4", "3, 4"})
  void soItIsOnTwoAndFourRanks(int stage, int ranks) {
    momentumInFloat32IsWithinRounding(stage, ranks);
  }

  /** What a rank receives at once is limited, so the buckets of large segments go in chunks. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void bucketsInChunksGiveTheSameBits(int stage) {
    assertThat(Slicing.chunks(1100 * 1100)).isGreaterThan(1);
    var whole = large(new Sharding(1));
    var chunks = large(new Sharding(stage));
    assertThat(chunks.isSameAs(whole)).isTrue();
  }

  private static Snapshot large(Sharding sharding) {
    return onTwoRanks(
        world -> trainer(world, sharding).model(new Mlp(8, List.of(1100, 1100), 4)),
        (trainer, shard) -> {
          trainer.plannedUpdates(100);
          for (int i = 0; i < 4; i++) {
            try (var _ = TensorScope.open()) {
              trainer.step(shard.load(i));
            }
          }
        });
  }

  /** It goes through segments one by one, where the others go through several at once. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void aRankWithoutABatchGathersAsTheOthersDo(int stage) {
    Strategy[] both = {new GradientMerge(3), Recompute.every(2)};
    var plain = withoutSomeBatches(both);
    var sharded = withoutSomeBatches(both[0], both[1], new Sharding(stage));
    assertThat(sharded.relativeDistance(plain)).isLessThan(1e-13);
  }

  private static Snapshot withoutSomeBatches(Strategy... techniques) {
    return onTwoRanks(
        world -> trainer(world, techniques),
        (trainer, shard) -> {
          trainer.plannedUpdates(100);
          for (int step = 0; step < 12; step++) {
            try (var _ = TensorScope.open()) {
              boolean hasBatch = step % 5 != trainer.collective().rank();
              trainer.step(hasBatch ? shard.load(step) : Batch.empty());
            }
            if (step == 6) {
              assertThat(trainer.read(BoundModel::segmentNames)).hasSize(3);
            }
          }
        });
  }

  private static TrainerBuilder trainer(World world, Strategy... techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(33, 17), 4))
        .optimizer(new Momentum(0.05, 0.9))
        .precision(Precision.FLOAT64)
        .strategy(techniques)
        .threads(1);
  }

  /** Returns the weights after a loop, which gets the batches of its rank. */
  private static Snapshot onTwoRanks(
      Function<World, TrainerBuilder> settings, BiConsumer<Trainer, RankShard> loop) {
    return Ranks.of(2)
        .callWorlds(
            world -> {
              try (var trainer = settings.apply(world).build()) {
                loop.accept(trainer, POINTS.batches(8).epoch(0, world.rank(), world.size()));
                trainer.averageParameters();
                return Snapshot.of(trainer);
              }
            })
        .getFirst();
  }

  /** Steps that begin while parameters travel see the same ones; so does who asks for the model. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void stepsThatDoNotWaitGiveTheSameBits(int stage) {
    Set<String> seen = ConcurrentHashMap.newKeySet();
    var waiting = steps(stage, Trainer::step);
    var ahead =
        steps(
            stage,
            (trainer, batch) -> {
              trainer.stepNonBlocking(batch);
              if (stage < 3 && trainer.updates() == 5) {
                seen.add(WeightsDigest.of(trainer.model().state()));
              }
            });
    assertThat(ahead.relativeDistance(waiting)).isZero();
    assertThat(seen).hasSize(stage < 3 ? 1 : 0);
  }

  /** Ranks of stage 3 may have no room for all parameters, also when training has ended. */
  @Test
  void aFitLeavesSlicesWhereTheyAreAndWritesThemWhole(@TempDir Path folder) {
    Map<Integer, Snapshot> read = new HashMap<>();
    for (int stage : List.of(1, 3)) {
      var file = folder.resolve(stage + ".safetensors");
      var snapshot =
          onTwoRanks(
              world -> trainer(world, new Sharding(stage)),
              (trainer, _) -> {
                trainer.fit(POINTS.batches(8), 1);
                trainer.saveModel(file);
                saveNowhere(trainer, file);
                assertThat(trainer.model().hasAllParameters()).isEqualTo(stage == 1);
              });
      read.put(stage, snapshot);
    }
    assertThat(Objects.requireNonNull(read.get(3)).isSameAs(Objects.requireNonNull(read.get(1))))
        .isTrue();
    assertThat(folder.resolve("3.safetensors"))
        .hasSameBinaryContentAs(folder.resolve("1.safetensors"));
  }

  /** The rank that cannot write says so; the others do not wait for what it would have sent. */
  private static void saveNowhere(Trainer trainer, Path file) {
    var below = file.resolve("model.safetensors");
    if (trainer.collective().rank() == 0) {
      assertThatThrownBy(() -> trainer.saveModel(below)).isInstanceOf(CheckpointException.class);
    } else {
      trainer.saveModel(below);
    }
  }

  private static Snapshot steps(int stage, BiConsumer<Trainer, Batch> step) {
    return onTwoRanks(
        world -> trainer(world, new Sharding(stage)),
        (trainer, shard) -> {
          trainer.plannedUpdates(100);
          for (int i = 0; i < 8; i++) {
            try (var _ = TensorScope.open()) {
              step.accept(trainer, shard.load(i));
            }
          }
        });
  }

  /**
   * Ranks run batches alone to see what they cost, each when it gets one of a new size. All of it
   * fits: what is alive belongs to the process, and other tests may take some meanwhile.
   */
  @Test
  void ranksWhoseCheckpointsArePlannedGatherTogether() {
    var plans = Collections.synchronizedSet(new HashSet<String>());
    var plain = planned(plans, new GradientMerge(2));
    plans.clear();
    Strategy[] all = {new GradientMerge(2), Recompute.auto(1L << 30), new Sharding(3)};
    assertThat(planned(plans, all).relativeDistance(plain)).isLessThan(1e-13);
    assertThat(plans).anyMatch(plan -> plan.startsWith("recompute plan"));
  }

  private static Snapshot planned(Set<String> plans, Strategy... techniques) {
    return onTwoRanks(
        world ->
            trainer(world, techniques)
                .model(new Mlp(8, List.of(64, 64, 64), 4))
                .events(
                    event -> {
                      if (event instanceof TrainingEvent.Measured(var text)) {
                        plans.add(text);
                      }
                    }),
        (trainer, _) -> {
          trainer.plannedUpdates(100);
          for (int step = 0; step < 8; step++) {
            int samples = step == 2 ? 0 : 8 << (2 * trainer.collective().rank() + step / 4);
            try (var _ = TensorScope.open()) {
              trainer.step(
                  samples == 0
                      ? Batch.empty()
                      : POINTS.load(IntStream.range(step, step + samples).toArray()));
            }
          }
        });
  }

  /** In a loop of one's own nobody knows that a micro-step is the last before it is over. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aLoopOfOnesOwnGoesOnWhereRanksHaveNoBatch(int stage) {
    var plain = ownLoop();
    assertThat(ownLoop(new Sharding(stage)).relativeDistance(plain)).isLessThan(1e-13);
  }

  private static Snapshot ownLoop(Strategy... techniques) {
    return onTwoRanks(
        world -> trainer(world, techniques),
        (trainer, shard) -> {
          var loop = trainer.ownLoop();
          for (int step = 0; step < 12; step++) {
            try (var _ = TensorScope.open()) {
              boolean hasBatch = step % 5 != 3 + trainer.collective().rank();
              loop.forwardBackward(hasBatch ? shard.load(step) : Batch.empty());
            }
            if (step == 8) {
              loop.clear();
            }
            if (step % 2 == 1) {
              assertThat(loop.update().updated()).isTrue();
            }
          }
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aClosedTrainerLeavesNoNativeObjects(int stage) {
    stepAndClose(stage);
    long before = Pointer.totalCount();
    stepAndClose(stage);
    assertThat(Pointer.totalCount()).isLessThanOrEqualTo(before);
  }

  private static void stepAndClose(int stage) {
    try (var trainer =
            Trainer.on(World.solo())
                .model(new Mlp(8, List.of(33, 17), 4))
                .optimizer(new AdamW(1e-2))
                .strategy(new Sharding(stage), new GradientMerge(2))
                .threads(1)
                .build();
        var _ = TensorScope.open()) {
      var shard = POINTS.batches(8).shuffled(1).epoch(0, 0, 1);
      for (int step = 0; step < 5; step++) {
        trainer.step(shard.load(step));
      }
    }
  }
}
