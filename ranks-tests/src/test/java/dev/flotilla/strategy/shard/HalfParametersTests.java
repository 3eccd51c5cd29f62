package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.arena.Layout;
import dev.flotilla.arena.ParameterArena;
import dev.flotilla.arena.Section;
import dev.flotilla.data.Batch;
import dev.flotilla.data.RankShard;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.InitialWeights;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parameters and gradients in bf16, with the float32 master in slices. */
class HalfParametersTests {

  private static final int UPDATES = 50;
  private static final int SAVED = 4;
  private static final int LAST = 7;
  private static final long SEED = 5;
  private static final ColouredPoints POINTS = new ColouredPoints(3600, 8, 4);
  private static final Mlp MODEL = new Mlp(8, List.of(33, 17), 4);
  private static final Optimizer MOMENTUM = new Momentum(0.05, 0.9, true, 1e-3);
  private static final Optimizer ADAM_W = new AdamW(1e-2, List.of(0.9, 0.999), 1e-8, 1e-2);

  /** What the formula, or a run that nobody disturbs, comes to: the same for each stage. */
  private static final Map<String, Snapshot> EXPECTED = new ConcurrentHashMap<>();

  @TempDir Path folder;

  private static Sharding halves(int stage) {
    return new Sharding(stage).withParameters(Dtype.BF16);
  }

  private static TrainerBuilder trainer(World world, Optimizer optimizer, Strategy... techniques) {
    return Trainer.on(world)
        .model(MODEL)
        .optimizer(optimizer)
        .seed(SEED)
        .strategy(techniques)
        .strategy(new MixedPrecision(Dtype.BF16))
        .threads(1);
  }

  private static RankShard shard(int rank, int ranks) {
    return POINTS.batches(12).shuffled(3).epoch(0, rank, ranks);
  }

  private static void step(Trainer trainer, World world, int first, int end) {
    var shard = shard(world.rank(), world.size());
    for (int step = first; step < end; step++) {
      try (var _ = TensorScope.open()) {
        trainer.step(shard.load(step));
      }
    }
  }

  private static Snapshot train(
      int ranks, int microSteps, Optimizer optimizer, Strategy... techniques) {
    return same(
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, optimizer, techniques).build()) {
                    step(trainer, world, 0, microSteps);
                    return Snapshot.of(trainer);
                  }
                }));
  }

  private static Snapshot same(List<Snapshot> all) {
    assertThat(all).allMatch(each -> each.isSameAs(all.getFirst()));
    return all.getFirst();
  }

  private static Snapshot byFormula(
      int ranks, Optimizer optimizer, int merge, boolean roundsWindow) {
    return EXPECTED.computeIfAbsent(
        "%d ranks, %s, merge %d, %s".formatted(ranks, optimizer, merge, roundsWindow),
        _ -> compute(ranks, optimizer, merge, roundsWindow));
  }

  private static Snapshot compute(int ranks, Optimizer optimizer, int merge, boolean roundsWindow) {
    try (var copy = new MasterCopy(MODEL, optimizer, SEED)) {
      var shards = IntStream.range(0, ranks).mapToObj(rank -> shard(rank, ranks)).toList();
      for (int update = 0; update < UPDATES; update++) {
        try (var _ = TensorScope.open()) {
          List<List<Batch>> window = new ArrayList<>();
          for (int step = update * merge; step < (update + 1) * merge; step++) {
            int at = step;
            window.add(shards.stream().map(shard -> shard.load(at)).toList());
          }
          copy.step(window, roundsWindow);
        }
      }
      return copy.weights();
    }
  }

  static Stream<Arguments> rows() {
    return Stream.of(1, 2, 3).map(stage -> Arguments.of(stage, 3, ADAM_W, 1));
  }

  static Stream<Arguments> more() {
    return Stream.of(1, 2, 3)
        .flatMap(
            stage ->
                Stream.of(
                    Arguments.of(stage, 2, MOMENTUM, 1),
                    Arguments.of(stage, 3, MOMENTUM, 1),
                    Arguments.of(stage, 2, ADAM_W, 1),
                    Arguments.of(stage, 2, ADAM_W, 2)));
  }

  /** At stage 1 each rank adds up its window in float32, and rounds the sum for the wire. */
  @ParameterizedTest
  @MethodSource("rows")
  void updatesAreThoseOfTheFormula(int stage, int ranks, Optimizer optimizer, int merge) {
    var expected = byFormula(ranks, optimizer, merge, stage == 1);
    var sharded = train(ranks, UPDATES * merge, optimizer, halves(stage), new GradientMerge(merge));
    assertThat(sharded.isSameAs(expected)).isTrue();
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("more")
  void updatesOfOthersAreThoseOfTheFormula(int stage, int ranks, Optimizer optimizer, int merge) {
    updatesAreThoseOfTheFormula(stage, ranks, optimizer, merge);
  }

  /** Products convert float32 parameters, where they have no bf16 ones, to the same numbers. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void productsAreThoseOfConvertedParameters(int stage) {
    var converted = train(2, LAST, MOMENTUM, new Sharding(stage));
    assertThat(train(2, LAST, MOMENTUM, halves(stage)).isSameAs(converted)).isTrue();
  }

  /** A norm uses parameters as they are, so here it shows which ones they are. */
  @Test
  void normsSeeRoundedParameters() {
    var float32 = normed(new Sharding(1));
    var halves = Stream.of(1, 2, 3).map(stage -> normed(halves(stage))).toList();
    assertThat(same(halves).isSameAs(float32)).isFalse();
    assertThat(halves.getFirst().relativeDistance(float32)).isLessThan(0.05);
  }

  private static Snapshot normed(Sharding sharding) {
    return same(
        Ranks.of(2)
            .callWorlds(
                world -> {
                  var builder = trainer(world, MOMENTUM, sharding);
                  try (var trainer = builder.model(new NormedPerceptron(8, 16, 4)).build()) {
                    step(trainer, world, 0, LAST);
                    trainer.evaluate(POINTS);
                    return withoutStatistics(Snapshot.of(trainer));
                  }
                }));
  }

  @ParameterizedTest
  @CsvSource({"1, optimizer", "3, optimizer+parameters"})
  void mastersBesideTheDeviceGiveTheSameBits(int stage, String offload) {
    var beside = halves(stage).withOffload(Offload.parse(offload));
    assertThat(train(2, LAST, ADAM_W, beside).isSameAs(train(2, LAST, ADAM_W, halves(stage))))
        .isTrue();
  }

  /** Of which each rank has its own. */
  private static Snapshot withoutStatistics(Snapshot all) {
    Map<String, double[]> parameters = new TreeMap<>(all.values());
    parameters.keySet().removeIf(name -> name.contains(".running_"));
    return new Snapshot(parameters);
  }

  private static Snapshot goOn(
      int ranks, Path from, Path out, int first, int end, Strategy... techniques) {
    return same(
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  var builder =
                      trainer(world, ADAM_W, techniques).checkpoints(CheckpointSettings.in(out));
                  try (var trainer = builder.build()) {
                    assertThat(trainer.resume(from).isPresent()).isEqualTo(first > 0);
                    step(trainer, world, first, end);
                    trainer.save();
                    trainer.awaitSave();
                    return Snapshot.of(trainer);
                  }
                }));
  }

  /** Another stage, three ranks, and one without sharding begin with what two have saved. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void theMasterIsSavedAndTakenUpByAnyRanksAndStages(int stage) {
    var saved = folder.resolve("saved");
    var before = goOn(2, saved, saved, 0, SAVED, halves(stage));
    int other = stage % 3 + 1;
    assertThat(goOn(3, saved, folder.resolve("3"), SAVED, SAVED, halves(other)).isSameAs(before))
        .isTrue();
    assertThat(goOn(1, saved, folder.resolve("1"), SAVED, SAVED).isSameAs(before)).isTrue();
    var whole = EXPECTED.computeIfAbsent("undisturbed", _ -> train(2, LAST, ADAM_W, halves(1)));
    assertThat(goOn(2, saved, folder.resolve("2"), SAVED, LAST, halves(other)).isSameAs(whole))
        .isTrue();
  }

  /** What was saved before parameters were bf16 is the master from then on. */
  @Test
  void aPlainRunIsTakenUp() {
    var saved = folder.resolve("saved");
    var before = goOn(1, saved, saved, 0, SAVED);
    assertThat(goOn(2, saved, folder.resolve("2"), SAVED, SAVED, halves(1)).isSameAs(before))
        .isTrue();
  }

  /**
   * Of float32 a rank has its slices, of bf16 all, but at stage 3, where segments come and go; the
   * bytes of both ranks per element.
   */
  @ParameterizedTest
  @CsvSource({"1, 4, 8", "2, 4, 4", "3, 0, 4"})
  void ranksOwnTheBytesOfTheFormula(int stage, int copies, int gradients) {
    var owned =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, MOMENTUM, halves(stage)).build()) {
                    step(trainer, world, 0, 3);
                    return Owned.of(trainer.model().arena());
                  }
                });
    long length = Layout.of(MODEL.parameters(), Precision.FLOAT32).length();
    assertThat(sum(owned, Owned::copies)).isEqualTo(copies * length);
    assertThat(sum(owned, Owned::masters)).isEqualTo(Float.BYTES * length);
    assertThat(sum(owned, Owned::gradients)).isEqualTo(gradients * length);
  }

  private static long sum(List<Owned> ranks, Function<Owned, Long> bytes) {
    return ranks.stream().mapToLong(bytes::apply).sum();
  }

  /** Bytes that a rank owns between steps. */
  private record Owned(long copies, long masters, long gradients) {

    static Owned of(ParameterArena arena) {
      var gradients = arena.gradients();
      return new Owned(
          present(arena.computedSections()),
          present(arena.sections()) + bytes(arena.keptValues().orElseThrow().slices()),
          gradients
              .kept()
              .map(kept -> bytes(kept.slices()))
              .orElseGet(() -> bytes(List.of(gradients.values()))));
    }

    private static long present(List<Section> sections) {
      return bytes(sections.stream().filter(Section::isPresent).map(Section::values).toList());
    }

    private static long bytes(List<Tensor> tensors) {
      return tensors.stream().mapToLong(it -> it.numel() * it.element_size()).sum();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aGradientThatIsNotFiniteDropsTheWindowEverywhere(int stage) {
    var runs =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer =
                          trainer(world, MOMENTUM, halves(stage))
                              .nonFinite(NonFinite.SKIP)
                              .build();
                      var _ = TensorScope.open()) {
                    step(trainer, world, 0, 2);
                    var before = Snapshot.of(trainer);
                    var bad = shard(world.rank(), 2).load(2);
                    if (world.rank() == 1) {
                      bad.inputs().getFirst().fill_(new Scalar(Double.POSITIVE_INFINITY));
                    }
                    assertThat(trainer.step(bad).notFinite()).isPresent();
                    assertThat(Snapshot.of(trainer).isSameAs(before)).isTrue();
                    step(trainer, world, 3, 4);
                    return Snapshot.of(trainer);
                  }
                });
    assertThat(same(runs).values().values().stream().flatMapToDouble(Arrays::stream))
        .allMatch(Double::isFinite);
  }

  /** The file has the float32 master; evaluation is by what was rounded from it. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void publishedWeightsAreTheMasterAndEvaluateAlike(int stage) {
    var file = folder.resolve("model.safetensors");
    var losses =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, ADAM_W, halves(stage)).build()) {
                    step(trainer, world, 0, 20);
                    trainer.saveModel(file);
                    return trainer.evaluate(POINTS).loss();
                  }
                });
    try (var plain =
        Trainer.on(World.solo())
            .model(MODEL)
            .optimizer(ADAM_W)
            .initialWeights(new InitialWeights(file, true))
            .threads(1)
            .build()) {
      assertThat(losses.getFirst()).isCloseTo(plain.evaluate(POINTS).loss(), within(0.02));
      var numbers = Snapshot.of(plain).values().values().stream().flatMapToDouble(Arrays::stream);
      assertThat(numbers.filter(HalfParametersTests::hasMoreBits).count()).isPositive();
    }
  }

  private static boolean hasMoreBits(double number) {
    return (Float.floatToRawIntBits((float) number) & 0xFFFF) != 0;
  }
}
