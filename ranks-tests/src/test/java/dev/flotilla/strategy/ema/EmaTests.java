package dev.flotilla.strategy.ema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.Momentum;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.StopWhen;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The average is the formula's, whatever else happens to weights; the weights are left alone. */
class EmaTests {

  private static final ColouredPoints POINTS = new ColouredPoints(240, 8, 4);
  private static final int UPDATES = 20;

  private static TrainerBuilder trainer(World world, Model model, Strategy... techniques) {
    return Trainer.on(world)
        .model(model)
        .optimizer(new Momentum(0.1, 0.9))
        .precision(Precision.FLOAT64)
        .strategy(techniques)
        .events(_ -> {})
        .threads(1);
  }

  private static Mlp mlp() {
    return new Mlp(8, List.of(33, 17), 4);
  }

  /** What a rank saw: its weights after each update, and the average at the end. */
  private record Seen(List<Snapshot> weights, Snapshot average) {}

  private static Seen watch(World world, Model model, int microSteps, Strategy... techniques) {
    try (var trainer = trainer(world, model, techniques).build()) {
      var shard = POINTS.batches(6).shuffled(3).epoch(0, world.rank(), world.size());
      List<Snapshot> weights = new ArrayList<>();
      for (int step = 0; step < microSteps; step++) {
        try (var _ = TensorScope.open()) {
          if (trainer.step(shard.load(step % shard.batches())).updated()) {
            weights.add(Snapshot.of(trainer));
          }
        }
      }
      return new Seen(weights, Snapshot.ofEma(trainer));
    }
  }

  private static Snapshot byHand(List<Snapshot> weights, Ema ema) {
    return byHand(weights, ema, false);
  }

  /**
   * Returns the average in float64.
   *
   * @param isTextbook d e + (1 - d) w, and not its equal w + d (e - w)
   */
  private static Snapshot byHand(List<Snapshot> weights, Ema ema, boolean isTextbook) {
    Map<String, double[]> average = new TreeMap<>();
    long n = 0;
    for (int update = 1; update <= weights.size(); update++) {
      if (update <= ema.start() || update % ema.every() != 0) {
        continue;
      }
      double decay = ema.warmup() ? 1 - Math.pow(1.0 + n, -2.0 / 3) : ema.decay();
      decay = n == 0 ? 0 : Math.min(decay, ema.decay());
      for (var entry : weights.get(update - 1).values().entrySet()) {
        var now = entry.getValue();
        var mean = average.computeIfAbsent(entry.getKey(), _ -> new double[now.length]);
        for (int i = 0; i < now.length; i++) {
          mean[i] =
              isTextbook
                  ? decay * mean[i] + (1 - decay) * now[i]
                  : now[i] + decay * (mean[i] - now[i]);
        }
      }
      n++;
    }
    return new Snapshot(average);
  }

  static Stream<Ema> settings() {
    return Stream.of(
        new Ema(0.9),
        new Ema(0.999),
        new Ema(0.95).withWarmup(),
        new Ema(0.8).each(3).startingAfter(4));
  }

  @ParameterizedTest
  @MethodSource("settings")
  void twentyUpdatesGiveTheFormula(Ema ema) {
    var seen = watch(World.solo(), mlp(), UPDATES, ema);
    assertThat(seen.weights()).hasSize(UPDATES);
    assertThat(seen.average().isSameAs(byHand(seen.weights(), ema))).isTrue();
    var textbook = byHand(seen.weights(), ema, true);
    assertThat(seen.average().relativeDistance(textbook)).isLessThan(2e-15);
    assertThat(seen.average().relativeDistance(seen.weights().getLast())).isGreaterThan(1e-3);
  }

  @Test
  void warmUpIsThatOfTimm() {
    var ema = new Ema(0.9).withWarmup();
    assertThat(ema.decayAt(0)).isZero();
    assertThat(ema.decayAt(1)).isEqualTo(0.3700394750525634);
    assertThat(ema.decayAt(9)).isEqualTo(0.7845565309968117);
    assertThat(ema.decayAt(1000)).isEqualTo(0.9);
  }

  @Test
  void theWeightsAreTheSameToTheBit() {
    var plain = watch(World.solo(), mlp(), UPDATES, new Ema(0.9).startingAfter(1000));
    var averaged = watch(World.solo(), mlp(), UPDATES, new Ema(0.9));
    assertThat(averaged.weights().getLast().isSameAs(plain.weights().getLast())).isTrue();
    // Until it begins, the average is what the weights are.
    assertThat(plain.average().isSameAs(plain.weights().getLast())).isTrue();
  }

  @Test
  void lookingAtItChangesNothing() {
    try (var trainer = trainer(World.solo(), new NormedPerceptron(8, 16, 4), new Ema(0.5)).build();
        var _ = TensorScope.open()) {
      var shard = POINTS.batches(8).epoch(0, 0, 1);
      trainer.step(shard.load(0));
      trainer.step(shard.load(1));
      var before = Snapshot.of(trainer);
      var average = Snapshot.ofEma(trainer);
      var evaluation = trainer.evaluate(POINTS);
      assertThat(Snapshot.of(trainer).isSameAs(before)).isTrue();
      assertThat(Snapshot.ofEma(trainer).isSameAs(average)).isTrue();
      assertThat(evaluation.values())
          .containsKeys("ema/loss", "ema/accuracy", "ema/accuracy_top5")
          .doesNotContainEntry("ema/loss", evaluation.loss());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void runningStatisticsAreAveragedOrTheModels(boolean useBuffers) {
    var ema = useBuffers ? new Ema(0.9) : new Ema(0.9).withoutBuffers();
    var seen = watch(World.solo(), new NormedPerceptron(8, 16, 4), UPDATES, ema);
    var byHand = byHand(seen.weights(), ema);
    for (var name : List.of("bn.running_mean", "bn.running_var")) {
      var expected = useBuffers ? byHand : seen.weights().getLast();
      assertThat(seen.average().relativeDistance(name, expected)).isLessThan(1e-15);
    }
    assertThat(seen.average().relativeDistance("bn.weight", byHand)).isLessThan(1e-15);
    var batches = "bn.num_batches_tracked";
    assertThat(seen.average().values().get(batches)).containsExactly(UPDATES);
  }

  /** Three micro-batches of 4 are one update, as a batch of 12 is. */
  @Test
  void mergedMicroBatchesAverageOnceAnUpdate() {
    var ema = new Ema(0.9).each(2);
    var merged = watch(World.solo(), mlp(), 60, ema, new GradientMerge(3));
    assertThat(merged.weights()).hasSize(20);
    assertThat(merged.average().relativeDistance(byHand(merged.weights(), ema))).isLessThan(1e-15);
    assertThat(fit(4, ema, new GradientMerge(3)).relativeDistance(fit(12, ema))).isLessThan(1e-13);
  }

  private static Snapshot fit(int batch, Strategy... techniques) {
    try (var trainer = trainer(World.solo(), mlp(), techniques).build()) {
      trainer.fit(POINTS.batches(batch).shuffled(5), 2);
      assertThat(trainer.updates()).isEqualTo(40);
      return Snapshot.ofEma(trainer);
    }
  }

  /** The mean of the ranks' averages is the average of the ranks' mean, also between two rounds. */
  @ParameterizedTest
  @CsvSource({"2, 20", "3, 18"})
  void ranksThatDifferHaveTheAverageOfTheirMean(int ranks, int updates) {
    var ema = new Ema(0.9);
    var all =
        Ranks.of(ranks).callWorlds(world -> watch(world, mlp(), updates, ema, new LocalSgd(4)));
    List<Snapshot> means = new ArrayList<>();
    for (int update = 0; update < updates; update++) {
      int at = update;
      means.add(mean(all.stream().map(seen -> seen.weights().get(at)).toList()));
    }
    var byHand = byHand(means, ema);
    assertThat(all).allMatch(seen -> seen.average().isSameAs(all.getFirst().average()));
    assertThat(all.getFirst().average().relativeDistance(byHand)).isLessThan(1e-14);
    assertThat(all.get(0).weights().get(9).isSameAs(all.get(1).weights().get(9))).isFalse();
  }

  private static Snapshot mean(List<Snapshot> each) {
    Map<String, double[]> mean = new TreeMap<>();
    for (var snapshot : each) {
      snapshot
          .values()
          .forEach(
              (name, values) -> {
                var sum = mean.computeIfAbsent(name, _ -> new double[values.length]);
                for (int i = 0; i < sum.length; i++) {
                  sum[i] += values[i] / each.size();
                }
              });
    }
    return new Snapshot(mean);
  }

  /** A scale that overflows in the first windows, until it has come down. */
  @Test
  void aWindowThatIsSkippedAveragesNothing() {
    var ema = new Ema(0.9).withWarmup();
    var scale = new MixedPrecision(Dtype.FP16, 1e9, 4, 1, 2, 0.5, true);
    try (var trainer =
        trainer(World.solo(), mlp(), ema, scale)
            .precision(Precision.FLOAT32)
            .nonFinite(NonFinite.SKIP)
            .build()) {
      trainer.plannedUpdates(100);
      var shard = POINTS.batches(6).epoch(0, 0, 1);
      List<Snapshot> weights = new ArrayList<>();
      int skipped = 0;
      for (int step = 0; step < 40; step++) {
        try (var _ = TensorScope.open()) {
          boolean isUpdated = trainer.step(shard.load(step)).updated();
          skipped += isUpdated ? 0 : 1;
          if (isUpdated) {
            weights.add(Snapshot.of(trainer));
          }
        }
      }
      assertThat(skipped).isBetween(3, 30);
      var byHand = byHand(weights, ema);
      assertThat(Snapshot.ofEma(trainer).relativeDistance(byHand)).isLessThan(1e-6);
    }
  }

  @Test
  void aClosedTrainerLeavesNoNativeObjects() {
    watch(World.solo(), new NormedPerceptron(8, 16, 4), 3, new Ema(0.9));
    long before = Pointer.totalCount();
    watch(World.solo(), new NormedPerceptron(8, 16, 4), 3, new Ema(0.9));
    assertThat(Pointer.totalCount()).isLessThanOrEqualTo(before);
  }

  @ParameterizedTest
  @CsvSource({
    "1.0, 1, 0, decay: must be above 0 and below 1",
    "0.0, 1, 0, decay: must be above 0 and below 1",
    "-0.1, 1, 0, decay: must be above 0 and below 1",
    "NaN, 1, 0, decay: must be above 0 and below 1",
    "0.9, 0, 0, every: must be at least 1",
    "0.9, 1, -1, start: must be at least 0"
  })
  void impossibleSettingsAreRefused(double decay, long every, long start, String message) {
    assertThatThrownBy(() -> new Ema(decay, every, start, false, true))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void nothingToAverageIsRefused() {
    assertThatThrownBy(() -> trainer(World.solo(), mlp(), new Ema(0.9)).freeze(_ -> true).plan())
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("ema has nothing to average: no parameter of the model is trained");
  }

  @Test
  void decisionsMayNameItsValuesWhereThereAreAny() {
    var named = StopWhen.noBetter("ema/loss");
    assertThat(evaluated(new Ema(0.9)).stopWhen(named).plan()).isNotNull();
    assertThatThrownBy(() -> evaluated().stopWhen(named).plan())
        .hasMessageContaining("'ema/loss' is not measured");
    assertThatThrownBy(() -> evaluated(new Ema(0.9)).stopWhen(StopWhen.noBetter("ema/los")).plan())
        .hasMessageContaining("did you mean 'ema/loss'?");
    assertThatThrownBy(() -> evaluated(new Ema(0.9)).loop(it -> it.also("ema", POINTS)).plan())
        .hasMessageContaining("eval.also: 'ema' is what the moving average is called");
  }

  private static TrainerBuilder evaluated(Strategy... techniques) {
    return trainer(World.solo(), mlp(), techniques).loop(it -> it.evaluateOn(POINTS));
  }

  @Test
  void aTrainerWithoutOneSaysHowToGetOne() {
    try (var trainer = trainer(World.solo(), mlp()).build()) {
      assertThatThrownBy(() -> trainer.readEma(model -> model))
          .hasMessageContaining("keeps no moving average: add strategy(new Ema(0.999))");
    }
  }
}
