package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.flotilla.booster.Booster;
import dev.flotilla.booster.DataParallel;
import dev.flotilla.collective.Traffic;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.powersgd.PowerSgd;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a callback of one rank asks for all ranks do, at the same update and in every loop. */
class CallbackTests {

  private static final ColouredPoints POINTS = new ColouredPoints(48, 8, 4);
  private static final BatchSource SOURCE = BatchSource.global(POINTS, 6).shuffled(7);

  private static TrainerBuilder builder(World world, Strategy... techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(8), 4))
        .optimizer(new Momentum(0.05, 0.9))
        .strategy(techniques)
        .events(_ -> {})
        .threads(1);
  }

  /** Asks for something after one update, on the last rank alone. */
  private static Callback onLastRank(World world, long update, Consumer<LoopControl> request) {
    return Callback.eachStep(
        (loop, _) -> {
          if (world.rank() == world.size() - 1 && loop.updates() == update) {
            request.accept(loop);
          }
        });
  }

  /** As who comes from elsewhere may write it: on the first rank alone. */
  @Test
  void callbacksOfOneRankAloneAreRefused() {
    assertThatThrownBy(
            () ->
                Ranks.of(2)
                    .callWorlds(
                        world -> {
                          var builder = builder(world);
                          if (world.rank() == 0) {
                            builder.callbacks(Callback.eachStep((_, _) -> {}));
                          }
                          builder.build().close();
                          return world.rank();
                        }))
        .rootCause()
        .hasMessageContaining("the ranks of this job differ: rank 0")
        .hasMessageContaining("has callbacks = 1, rank 1");
  }

  static Stream<Arguments> techniques() {
    return Stream.of(
        Arguments.of(1, 3, new Strategy[] {}),
        Arguments.of(2, 3, new Strategy[] {}),
        Arguments.of(3, 3, new Strategy[] {}),
        Arguments.of(2, 3, new Strategy[] {new GradientMerge(2)}),
        Arguments.of(2, 3, new Strategy[] {new Sharding(1)}),
        Arguments.of(3, 3, new Strategy[] {new Sharding(2), new GradientMerge(2)}),
        Arguments.of(2, 3, new Strategy[] {new Sharding(3)}),
        Arguments.of(2, 3, new Strategy[] {new FuseAllReduce().on(Dtype.BF16)}),
        Arguments.of(3, 3, new Strategy[] {new Dgc(0, 1, List.of(0.9))}),
        Arguments.of(2, 3, new Strategy[] {new PowerSgd(2)}),
        // Without an exchange ranks hear of it when they average next.
        Arguments.of(2, 4, new Strategy[] {new LocalSgd(3)}));
  }

  @ParameterizedTest
  @MethodSource("techniques")
  void oneRankAsksAndAllStopAtTheSameUpdate(int ranks, long expected, Strategy[] techniques) {
    var stopped =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  var stop = onLastRank(world, 2, loop -> loop.stop("enough"));
                  try (var trainer = builder(world, techniques).callbacks(stop).build()) {
                    trainer.fit(SOURCE, 4);
                    return trainer.updates() + " " + trainer.metrics().get("stopped_early");
                  }
                });
    assertThat(stopped).hasSize(ranks).containsOnly(expected + " {reason=enough}");
  }

  private static List<Double> rates(World world, Callback... callbacks) {
    List<Double> rates = new ArrayList<>();
    var note = Callback.eachStep((_, outcome) -> rates.add(outcome.lr()));
    try (var trainer = builder(world).callbacks(callbacks).callbacks(note).build()) {
      trainer.fit(SOURCE, 1);
    }
    return rates;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void aRateThatOneRankAsksForHoldsForAllFromTheNextUpdateOn(int ranks) {
    var all =
        Ranks.of(ranks)
            .callWorlds(
                world ->
                    rates(
                        world,
                        onLastRank(world, 2, loop -> loop.scaleLearningRate(0.5)),
                        onLastRank(world, 4, loop -> loop.setLearningRate(0.3)),
                        onLastRank(world, 5, loop -> loop.scaleLearningRate(2))));
    assertThat(all).containsOnly(List.of(0.05, 0.05, 0.025, 0.025, 0.3, 0.6, 0.6, 0.6));
  }

  @Test
  void whatAllRanksAskForIsDoneOnceAndOfDifferentWishesTheLowestRankHasItsOwn() {
    var all =
        Ranks.of(3)
            .callWorlds(
                world ->
                    rates(
                        world,
                        Callback.eachStep(
                            (loop, _) -> {
                              if (loop.updates() == 2) {
                                loop.scaleLearningRate(0.5);
                              }
                              if (loop.updates() == 4 && world.rank() > 0) {
                                loop.setLearningRate(world.rank());
                              }
                            })));
    assertThat(all).containsOnly(List.of(0.05, 0.05, 0.025, 0.025, 1.0, 1.0, 1.0, 1.0));
  }

  /** A schedule goes on below a factor, and a rate takes its place. */
  @Test
  void aScheduleIsScaled() {
    List<Double> plain = new ArrayList<>();
    List<Double> scaled = new ArrayList<>();
    for (var rates : List.of(plain, scaled)) {
      var callback =
          Callback.eachStep(
              (loop, outcome) -> {
                rates.add(outcome.lr());
                if (rates.equals(scaled) && loop.updates() == 3) {
                  loop.scaleLearningRate(0.25);
                }
              });
      try (var trainer = builder(World.solo()).schedule(new Cosine()).callbacks(callback).build()) {
        trainer.fit(SOURCE, 1);
      }
    }
    for (int i = 0; i < 8; i++) {
      assertThat(scaled.get(i)).isEqualTo(plain.get(i) * (i < 3 ? 1 : 0.25));
    }
  }

  private static List<Long> sent(Callback... callbacks) {
    return Ranks.of(2)
        .callWorlds(
            world -> {
              try (var trainer = builder(world).callbacks(callbacks).build()) {
                trainer.fit(SOURCE, 3);
                return List.of(
                    trainer.sent(Traffic.SCALAR).operations(),
                    trainer.sent(Traffic.EXCHANGE).operations());
              }
            })
        .getFirst();
  }

  /** Two agreements per epoch, and none per step. */
  @Test
  void callbacksThatAskForNothingCostNoCollectivePerStep() {
    var without = sent();
    var with = sent(Callback.eachStep((_, _) -> {}));
    assertThat(with).containsExactly(without.getFirst() + 6, without.getLast());
  }

  /** Notes every call with the place it comes at. */
  private static final class Diary implements Callback {

    private final List<String> lines = new ArrayList<>();

    private void note(String call, LoopControl loop) {
      lines.add(call + " " + loop.epoch() + "/" + loop.updates());
    }

    @Override
    public void beforeStep(LoopControl loop) {
      note("beforeStep", loop);
    }

    @Override
    public void afterStep(LoopControl loop, StepOutcome outcome) {
      note("afterStep", loop);
    }

    @Override
    public void beforeEpoch(LoopControl loop) {
      note("beforeEpoch", loop);
    }

    @Override
    public void afterEpoch(LoopControl loop) {
      note("afterEpoch", loop);
      loop.evaluate();
    }

    @Override
    public void beforeEvaluation(LoopControl loop) {
      note("beforeEvaluation", loop);
    }

    @Override
    public void afterEvaluation(LoopControl loop, Evaluation evaluation) {
      note("afterEvaluation", loop);
    }
  }

  private static List<String> diary(BiConsumer<TrainerBuilder, Diary> run) {
    var diary = new Diary();
    var builder = builder(World.solo()).loop(it -> it.evaluateOn(POINTS).each(Every.end()));
    run.accept(builder.callbacks(diary), diary);
    return diary.lines;
  }

  @Test
  void allLoopsCallTheSame() {
    var source = BatchSource.global(POINTS, 12);
    var fit =
        diary(
            (builder, _) -> {
              try (var trainer = builder.build()) {
                trainer.fit(source, 2);
              }
            });
    var steps =
        diary(
            (builder, _) -> {
              try (var trainer = builder.build()) {
                for (int epoch = 0; epoch < 2; epoch++) {
                  for (int i = 0; i < 4; i++) {
                    try (var _ = TensorScope.open()) {
                      trainer.step(source.epoch(epoch, 0, 1).load(i), i == 3);
                    }
                  }
                }
              }
            });
    var parts =
        diary(
            (builder, _) -> {
              try (var boosted = Booster.with(new DataParallel()).boost(builder)) {
                for (int epoch = 0; epoch < 2; epoch++) {
                  for (int i = 0; i < 4; i++) {
                    try (var _ = TensorScope.open()) {
                      for (var half : source.epoch(epoch, 0, 1).load(i).split(2)) {
                        boosted.forwardBackward(half);
                      }
                      boosted.step();
                    }
                  }
                  boosted.endEpoch();
                }
              }
            });
    assertThat(fit)
        .startsWith("beforeEpoch 0/0", "beforeStep 0/0", "afterStep 0/1", "beforeStep 0/1")
        .endsWith(
            "beforeStep 1/7",
            "afterStep 1/8",
            "afterEpoch 1/8",
            "beforeEvaluation 1/8",
            "afterEvaluation 1/8")
        .hasSize(24);
    assertThat(steps).isEqualTo(fit);
    assertThat(parts).isEqualTo(fit);
  }

  @Test
  void ownLoopsAreToldToStop() {
    var stop = Callback.eachStep((loop, outcome) -> loop.stop("loss " + outcome.totals().count()));
    try (var boosted =
        Booster.with(new DataParallel()).boost(builder(World.solo()).callbacks(stop))) {
      var shard = SOURCE.epoch(0, 0, 1);
      int updates = 0;
      while (boosted.stopAsked().isEmpty()) {
        try (var _ = TensorScope.open()) {
          boosted.step(shard.load(updates++));
        }
      }
      assertThat(updates).isEqualTo(2);
      assertThat(boosted.stopAsked()).hasValue("loss 6");
    }
  }

  @Test
  void numbersAreInEventsAndTheSummary() {
    List<TrainingEvent> events = new ArrayList<>();
    var log = Callback.eachEpoch(loop -> loop.log("twice", 2.0 * loop.updates()));
    try (var trainer = builder(World.solo()).events(events::add).callbacks(log).build()) {
      trainer.fit(SOURCE, 2);
      assertThat(trainer.metrics().get("logged")).isEqualTo(Map.of("twice", 32.0));
    }
    assertThat(events)
        .filteredOn(TrainingEvent.Logged.class::isInstance)
        .containsExactly(
            new TrainingEvent.Logged(0, 8, Map.of("twice", 16.0)),
            new TrainingEvent.Logged(1, 16, Map.of("twice", 32.0)));
  }

  private static Throwable failureOf(Callback callback) {
    try (var trainer = builder(World.solo()).callbacks(callback).build()) {
      return catchThrowable(() -> trainer.fit(SOURCE, 1));
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -0.1, Double.NaN, Double.POSITIVE_INFINITY})
  void aRateThatCannotBeIsRefusedWithCallbackAndUpdate(double rate) {
    var refused = "must be a number greater than 0, but was " + rate;
    assertThat(failureOf(Callback.eachStep((loop, _) -> loop.setLearningRate(rate))))
        .isInstanceOf(CallbackException.class)
        .hasMessageContaining("failed in afterStep after update 1: the learning rate " + refused);
    assertThat(failureOf(Callback.eachEpoch(loop -> loop.scaleLearningRate(rate))))
        .hasMessageContaining(
            "failed in afterEpoch after update 8: the factor of the learning rate")
        .hasMessageContaining(refused);
  }

  private static final class Faulty implements Callback {
    @Override
    public void beforeStep(LoopControl loop) {
      if (loop.updates() == 3) {
        throw new IllegalStateException("a bug");
      }
    }
  }

  @Test
  void aFailureNamesTheCallback() {
    assertThat(failureOf(new Faulty()))
        .isInstanceOf(CallbackException.class)
        .hasMessage(
            "callback %s failed in beforeStep after update 3: a bug", Faulty.class.getName())
        .hasCauseInstanceOf(IllegalStateException.class);
    assertThat(failureOf(Callback.eachStep((loop, _) -> loop.evaluate())))
        .hasMessageContaining("there is no data to evaluate on: name it with loop(it ->");
  }

  @Test
  void setsOfDataHaveNames() {
    var loop = LoopSettings.defaults();
    assertThatThrownBy(() -> loop.also("a/b", POINTS))
        .hasMessageContaining(
            "eval.also: names must be of letters, digits, _ and -, but was 'a/b'");
    assertThatThrownBy(() -> loop.also("a", POINTS).also("a", POINTS))
        .hasMessageContaining("eval.also: there are two sets called 'a'");
    var alone = builder(World.solo()).loop(loop.also("a", POINTS));
    assertThatThrownBy(alone::build)
        .hasMessageContaining("eval.also: names data beside the test data, but there is none");
  }
}
