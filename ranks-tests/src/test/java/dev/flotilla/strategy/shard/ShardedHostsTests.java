package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.collective.Traffic;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Adam;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.ema.Ema;
import dev.flotilla.strategy.localsgd.AdaptiveLocalSgd;
import dev.flotilla.strategy.localsgd.AveragingGroup;
import dev.flotilla.strategy.localsgd.IntervalRule;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.localsgd.MomentumPolicy;
import dev.flotilla.strategy.localsgd.OuterOptimizer;
import dev.flotilla.strategy.localsgd.OuterRule;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
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
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Hosts that average now and then, each of which shares one model out among its ranks, learn what
 * they learn where every rank holds all of it.
 */
class ShardedHostsTests {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  // Ends in mid-round, and has evaluations there.
  private static final int UPDATES = 23;
  private static final int SAVED = 10;

  @TempDir Path folder;
  private final List<TrainingEvent.Averaged> rounds =
      Collections.synchronizedList(new ArrayList<>());

  private static World on(World world, int ranksOfHost) {
    int rank = world.rank();
    int hosts = Math.ceilDiv(world.size(), ranksOfHost);
    int host = rank / ranksOfHost;
    int here = Math.min(ranksOfHost, world.size() - host * ranksOfHost);
    return new World(rank, world.size(), rank % ranksOfHost, here, host, hosts, world.rendezvous());
  }

  private static LocalSgd local(
      MomentumPolicy momentum, Dtype wire, boolean overlap, @Nullable OuterOptimizer outer) {
    return new LocalSgd(4, 2, momentum, wire, overlap, AveragingGroup.HOST, outer);
  }

  private static LocalSgd local() {
    return local(MomentumPolicy.LOCAL, Dtype.FP32, false, null);
  }

  private static AdaptiveLocalSgd adaptive() {
    return new AdaptiveLocalSgd(
        6,
        1,
        16,
        IntervalRule.ADACOMM,
        0.5,
        1,
        MomentumPolicy.LOCAL,
        Dtype.FP32,
        false,
        AveragingGroup.HOST);
  }

  private static Model model(boolean isNormed) {
    return isNormed ? new NormedPerceptron(8, 33, 4) : new Mlp(8, List.of(33, 17), 4);
  }

  private TrainerBuilder trainer(World world, boolean isNormed, Strategy... techniques) {
    return Trainer.on(world)
        .model(model(isNormed))
        .optimizer(new Adam(0.01, List.of(0.9, 0.999), 1e-8, 1e-3))
        .strategy(techniques)
        .collective(group -> group.size() == 1 ? group : RankOrder.withSubgroups(group))
        .compareEvery(4)
        .threads(1)
        .events(
            event -> {
              if (world.rank() == 0 && event instanceof TrainingEvent.Averaged round) {
                rounds.add(round);
              }
            });
  }

  private static LoopSettings until(int updates) {
    return LoopSettings.defaults()
        .evaluateOn(POINTS)
        .each(Every.updates(7))
        .endAfterUpdates(updates);
  }

  /** What a run comes to: the average, and each rank's bytes. */
  private record Outcome(Snapshot weights, double loss, long sent) {}

  private List<Outcome> fit(int hosts, int ranksOfHost, boolean isNormed, Strategy... techniques) {
    return Ranks.of(hosts * ranksOfHost)
        .callWorlds(
            world -> {
              var builder = trainer(on(world, ranksOfHost), isNormed, techniques);
              try (var trainer = builder.loop(until(UPDATES)).build()) {
                var result = trainer.fit(POINTS.batches(6).shuffled(3), 100);
                return outcome(trainer, result.evaluation().orElseThrow().loss(), techniques);
              }
            });
  }

  private static Outcome outcome(Trainer trainer, double loss, Strategy... techniques) {
    boolean isAveraged = Stream.of(techniques).anyMatch(Ema.class::isInstance);
    long sent = trainer.sent(Traffic.EXCHANGE).bytesSent();
    var weights = Snapshot.of(trainer);
    return new Outcome(
        isAveraged ? weights.with("ema ", Snapshot.ofEma(trainer)) : weights, loss, sent);
  }

  private static Strategy[] with(Strategy one, Strategy... others) {
    return Stream.concat(Stream.of(others), Stream.of(one)).toArray(Strategy[]::new);
  }

  private static final String SIMPLEST = "plain";
  private static final String RICHEST = "outer optimizer behind the next round";

  /** What stands beside the average of hosts, and up to which stage that is the same to the bit. */
  static Stream<Arguments> combinations() {
    return allCombinations().filter(ShardedHostsTests::standsForOthers);
  }

  static Stream<Arguments> otherCombinations() {
    return allCombinations().filter(it -> !standsForOthers(it));
  }

  private static boolean standsForOthers(Arguments combination) {
    return Set.of(SIMPLEST, RICHEST, "fp16, recompute")
        .contains(String.valueOf(combination.get()[0]));
  }

  private static Stream<Arguments> allCombinations() {
    var nesterov = new OuterOptimizer(OuterRule.NESTEROV, 0.5, 0.5);
    return Stream.of(
        Arguments.of(SIMPLEST, 3, false, techniques(local())),
        Arguments.of("BatchNorm", 3, true, techniques(local())),
        Arguments.of("adaptive", 3, false, techniques(adaptive())),
        Arguments.of(
            "momentum averaged",
            3,
            true,
            techniques(local(MomentumPolicy.AVERAGE, Dtype.FP32, false, null))),
        Arguments.of(
            "momentum reset, 16 bits",
            3,
            false,
            techniques(local(MomentumPolicy.RESET, Dtype.BF16, false, null))),
        Arguments.of(
            RICHEST, 3, true, techniques(local(MomentumPolicy.LOCAL, Dtype.FP32, true, nesterov))),
        Arguments.of("moving average", 3, true, techniques(local(), new Ema(0.9))),
        Arguments.of("merge", 1, false, techniques(local(), new GradientMerge(3))),
        Arguments.of(
            "fp16, recompute",
            3,
            false,
            techniques(local(), new MixedPrecision(Dtype.FP16), Recompute.every(1))));
  }

  private static List<Strategy> techniques(Strategy... all) {
    return List.of(all);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("combinations")
  void slicesInsideHostsGiveTheSameBits(
      String name, int last, boolean isNormed, List<Strategy> techniques) {
    var all = techniques.toArray(Strategy[]::new);
    var plain = fit(2, 2, isNormed, all);
    var expected = drifts();
    for (int stage = 1; stage <= last; stage++) {
      var sharded = fit(2, 2, isNormed, with(new Sharding(stage), all));
      assertSame(sharded, plain);
      var drifts = drifts();
      assertThat(drifts).hasSameSizeAs(expected);
      for (int i = 0; i < expected.size(); i++) {
        assertThat(drifts.get(i)).isCloseTo(expected.get(i), within(1e-5 * expected.get(i)));
      }
    }
  }

  @Tag("thorough")
  @ParameterizedTest(name = "{0}")
  @MethodSource("otherCombinations")
  void soDoSlicesBesideOtherTechniques(
      String name, int last, boolean isNormed, List<Strategy> techniques) {
    slicesInsideHostsGiveTheSameBits(name, last, isNormed, techniques);
  }

  /** Ranks may each have running statistics of their own. */
  private static void assertSame(List<Outcome> ones, List<Outcome> others) {
    for (int rank = 0; rank < ones.size(); rank++) {
      assertThat(ones.get(rank).weights().isSameAs(others.get(rank).weights())).isTrue();
      assertThat(ones.get(rank).loss()).isEqualTo(others.get(rank).loss());
    }
  }

  /** Returns how far the ranks were from each average of the last run. */
  private List<Double> drifts() {
    var all = rounds.stream().map(TrainingEvent.Averaged::driftLargest).toList();
    rounds.clear();
    assertThat(all).isNotEmpty();
    return all;
  }

  @ParameterizedTest
  @CsvSource("2, 3, 3")
  void slicesOfDifferentLengthsGiveTheSameBits(int hosts, int ranksOfHost, int stage) {
    var plain = fit(hosts, ranksOfHost, false, local());
    assertSame(fit(hosts, ranksOfHost, false, local(), new Sharding(stage)), plain);
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"3, 2, 1", "3, 2, 2", "3, 2, 3", "2, 3, 1", "2, 3, 2", "3, 1, 1", "3, 1, 3"})
  void soDoThoseOfMoreHosts(int hosts, int ranksOfHost, int stage) {
    slicesOfDifferentLengthsGiveTheSameBits(hosts, ranksOfHost, stage);
  }

  /** Sums of micro-steps and ranks are added in another order. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void clippedAndMergedSlicesLearnTheSame(int stage) {
    Strategy[] all = {local(), new GradientMerge(3), new ClipByNorm(0.5)};
    var plain = fit(2, 2, false, all).getFirst();
    var sharded = fit(2, 2, false, with(new Sharding(stage), all)).getFirst();
    assertThat(sharded.loss()).isBetween(0.9 * plain.loss(), 1.1 * plain.loss());
  }

  /** All stages round the same numbers. */
  @Test
  void parametersOf16BitsGiveTheSameBitsAtAllStages() {
    Strategy[] all = {local(), new MixedPrecision(Dtype.BF16)};
    var first = fit(2, 2, false, with(new Sharding(1).withParameters(Dtype.BF16), all));
    for (int stage = 2; stage <= 3; stage++) {
      var other = new Sharding(stage).withParameters(Dtype.BF16);
      assertSame(fit(2, 2, false, with(other, all)), first);
    }
  }

  /** A scale for 256 numbers of a slice is another one than for those of the whole. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void fewBitsBetweenHostsGiveAllRanksTheSame(int stage) {
    var coded = local(MomentumPolicy.LOCAL, Dtype.INT8, true, null);
    var plain = fit(2, 2, false, coded).getFirst();
    var sharded = fit(2, 2, false, coded, new Sharding(stage));
    assertThat(sharded)
        .allSatisfy(it -> assertThat(it.weights().isSameAs(sharded.getFirst().weights())).isTrue());
    assertThat(sharded.getFirst().loss()).isBetween(0.9 * plain.loss(), 1.1 * plain.loss());
  }

  /** Each rank sends its slices alone: of two on a host, each a half of the parameters. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void anAverageSendsEachParameterOncePerHost(int stage) {
    var never =
        new LocalSgd(1000, 0, MomentumPolicy.LOCAL, Dtype.FP32, false, AveragingGroup.HOST, null);
    var always =
        new LocalSgd(1, 0, MomentumPolicy.LOCAL, Dtype.FP32, false, AveragingGroup.HOST, null);
    long without = sent(never, new Sharding(stage));
    long bytes = sent(always, new Sharding(stage)) - without;
    // Of two hosts each sends all parameters once; whole ones are passed on inside hosts besides.
    long parameters = 4L * UPDATES * parameters();
    assertThat(bytes).isEqualTo(2 * parameters);
  }

  private long sent(Strategy... techniques) {
    return fit(2, 2, false, techniques).stream().mapToLong(Outcome::sent).sum();
  }

  private static long parameters() {
    // 8·33 + 33, 33·17 + 17 and 17·4 + 4, each parameter at a multiple of 16 elements.
    return 272 + 48 + 576 + 32 + 80 + 16;
  }

  /** The same number of ranks goes on at any stage as if it had never stopped. */
  @ParameterizedTest
  @CsvSource("1, 3")
  void whatWasSavedInMidRoundGoesOn(int before, int after) {
    var behind =
        local(
            MomentumPolicy.AVERAGE,
            Dtype.FP32,
            true,
            new OuterOptimizer(OuterRule.NESTEROV, 0.5, 0.5));
    for (var technique : List.of(local(), behind)) {
      rounds.clear();
      Strategy[] both = {technique, new Ema(0.9), new Sharding(after)};
      var whole = fit(2, 2, true, both);
      var saved = folder.resolve(technique.overlap() ? "behind" : "at once");
      save(saved, true, technique, new Ema(0.9), new Sharding(before));
      assertSame(goOn(4, saved, folder.resolve(saved + " resumed"), true, both), whole);
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"1, 1", "2, 2", "3, 3", "2, 1", "3, 2"})
  void soDoesEveryStage(int before, int after) {
    whatWasSavedInMidRoundGoesOn(before, after);
  }

  private void save(Path out, boolean isNormed, Strategy... techniques) {
    Ranks.of(4)
        .callWorlds(
            world -> {
              var builder = trainer(on(world, 2), isNormed, techniques).loop(until(SAVED));
              try (var trainer = builder.checkpoints(CheckpointSettings.in(out)).build()) {
                trainer.fit(POINTS.batches(6).shuffled(3), 100);
                return trainer.updates();
              }
            });
  }

  private List<Outcome> goOn(
      int ranks, Path from, Path out, boolean isNormed, Strategy... techniques) {
    return Ranks.of(ranks)
        .callWorlds(
            world -> {
              var builder = trainer(on(world, 2), isNormed, techniques).loop(until(UPDATES));
              try (var trainer = builder.checkpoints(CheckpointSettings.in(out)).build()) {
                assertThat(trainer.resume(from)).isPresent();
                var result = trainer.fit(POINTS.batches(24 / ranks).shuffled(3), 100);
                return outcome(trainer, result.evaluation().orElseThrow().loss(), techniques);
              }
            });
  }

  /** Fewer hosts, of which one has nobody to average with, go on from the average. */
  @ParameterizedTest
  @CsvSource({"1, 2, 3", "2, 6, 2"})
  void anotherNumberOfRanksSlicesTheAverageAnew(int before, int ranks, int after) {
    save(folder.resolve("saved"), false, local(), new Sharding(before));
    var resumed =
        goOn(
            ranks,
            folder.resolve("saved"),
            folder.resolve("resumed"),
            false,
            local(),
            new Sharding(after));
    assertThat(resumed)
        .allSatisfy(it -> assertThat(it.weights().isSameAs(resumed.getFirst().weights())).isTrue())
        .allSatisfy(it -> assertThat(it.loss()).isLessThan(Math.log(4)));
  }

  @Test
  void hostsWithDifferentNumbersOfRanksAreRefused() {
    for (int stage : List.of(1, 3)) {
      assertThatThrownBy(
              () ->
                  Ranks.of(3)
                      .callWorlds(
                          world -> {
                            var builder =
                                trainer(on(world, 2), false, local(), new Sharding(stage));
                            try (var trainer = builder.build()) {
                              return trainer.updates();
                            }
                          }))
          .hasRootCauseInstanceOf(ConfigException.class)
          .rootCause()
          .hasMessageContaining("hosts have [2, 1] ranks")
          .hasMessageContaining("start as many ranks on each, or keep no slices");
    }
  }
}
