package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Initializer;
import dev.flotilla.model.Model;
import dev.flotilla.model.Objective;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.SquaredError;
import dev.flotilla.model.Weights;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A learning rate is found where mathematics has it, and nothing is left of the search. */
class LearningRateFinderTests {

  /** One weight w, one sample x = 3, and the loss (x w)², whose second derivative is L = 18. */
  private record Parabola() implements Model, Dataset {

    private static final double CURVATURE = 18;

    @Override
    public String name() {
      return "parabola";
    }

    @Override
    public Objective objective() {
      return new SquaredError();
    }

    @Override
    public int size() {
      return 1;
    }

    @Override
    public Batch load(int[] samples) {
      var input = Tensors.ofDoubles(3).reshape(1, 1);
      var target = Tensors.zeros(torch.ScalarType.Double, 1, 1);
      return new Batch(List.of(input), target, 1);
    }

    @Override
    public List<Segment> segments() {
      return List.of(
          new Segment() {
            @Override
            public String name() {
              return "line";
            }

            @Override
            public List<ParameterSpec> parameters() {
              return List.of(
                  new ParameterSpec(
                      "w", Shape.of(1), ParameterSpec.Kind.WEIGHT, new Initializer.Constant(1)));
            }

            @Override
            public Forward bind(Weights weights) {
              return (input, _) -> Activations.of(input.only().mul(weights.parameter("w")));
            }
          });
    }
  }

  private static final LearningRateRange RANGE = LearningRateRange.defaults().from(1e-5).in(200);

  @Test
  void aParabolaDivergesFromTwoOverItsCurvatureOn() {
    try (var trainer =
        Trainer.on(World.solo())
            .model(new Parabola())
            .optimizer(new Sgd(0.1))
            .precision(Precision.FLOAT64)
            .events(_ -> {})
            .threads(1)
            .build()) {
      var found = trainer.findLearningRate(new Parabola().batches(1), RANGE);
      // By hand: each update multiplies w by 1 - lr L, so that the loss falls up to lr = 2 / L.
      double w = 1;
      int lowest = 0;
      var points = found.points();
      for (int i = 0; i < points.size(); i++) {
        double lr = 1e-5 * Math.pow(1e6, i / 199.0);
        assertThat(points.get(i).rate()).isCloseTo(lr, within(1e-12 * lr));
        assertThat(points.get(i).loss()).isCloseTo(9 * w * w, within(1e-9 * 9 * w * w));
        lowest = points.get(i).loss() < points.get(lowest).loss() ? i : lowest;
        w *= 1 - lr * Parabola.CURVATURE;
      }
      double limit = 2 / Parabola.CURVATURE;
      assertThat(points.get(lowest - 1).rate()).isLessThan(limit);
      assertThat(points.get(lowest).rate()).isGreaterThan(limit);
      assertThat(found.hasDiverged()).isTrue();
      assertThat(points.getLast().rate()).isBetween(limit, 10.0);
      assertThat(found.suggested()).isPresent();
      assertThat(found.suggested().getAsDouble()).isBetween(limit / 100, limit / 2);
    }
  }

  /** Whatever decides about a run has no say in the search for its rate. */
  @Test
  void aRecipeIsSearchedWithoutARun() {
    Map<String, Object> values = new HashMap<>();
    values.put("model", Map.of("name", "mlp", "hidden", List.of(8)));
    values.put("data", "digits");
    values.put("batch", 32);
    values.put("device", "cpu");
    values.put("threads", 1);
    values.put("optimizer", Map.of("name", "sgd", "lr", 0.1));
    values.put("eval", Map.of("also", Map.of("again", "digits")));
    values.put("stop_when", Map.of("metric", "again/loss"));
    var config = RunConfig.read(Recipe.of("test", values), Catalogue.installed());
    var found =
        new ConfiguredRun(config, World.solo())
            .findLearningRate(LearningRateRange.defaults().from(1e-4).to(1e4).in(60), _ -> {});
    assertThat(found.hasDiverged()).isTrue();
    assertThat(found.suggested().orElseThrow()).isBetween(1e-3, 10.0);
  }

  @Test
  void theRuleIsTheOneThatIsStated() {
    var losses = List.of(5.0, 4.9, 4.0, 1.0, 0.9, 2.0, 9.0);
    var points =
        Stream.iterate(0, i -> i < losses.size(), i -> i + 1)
            .map(i -> new LearningRates.Point(Math.pow(10, i - 4), 0, losses.get(i)))
            .toList();
    var found = new LearningRates(points, true);
    // The largest fall around a point is from 4.9 to 1.0; the lowest is at 1.
    assertThat(found.suggested()).hasValue(0.01);
    assertThat(found.tenthOfLowest()).hasValue(0.1);
    var rising = new LearningRates(points.subList(4, 7), true);
    assertThat(rising.suggested()).isEmpty();
    assertThat(rising.tenthOfLowest()).isEmpty();
  }

  private static final ColouredPoints POINTS = new ColouredPoints(48, 8, 4);
  private static final BatchSource SOURCE = BatchSource.global(POINTS, 6).shuffled(7);

  static Stream<List<Strategy>> techniques() {
    return Stream.of(
        List.of(),
        List.of(new GradientMerge(3)),
        List.of(new Sharding(2)),
        List.of(new Sharding(3)),
        List.of(new Dgc(0, 1, List.of(0.9))),
        List.of(new LocalSgd(3)));
  }

  private static Snapshot fit(World world, List<Strategy> techniques, boolean looks) {
    boolean isDgc = techniques.stream().anyMatch(Dgc.class::isInstance);
    try (var trainer =
        Trainer.on(world)
            .model(new Mlp(8, List.of(8), 4))
            .optimizer(isDgc ? new Momentum(0.05, 0.9) : new AdamW(0.01))
            .schedule(new Cosine())
            .strategy(techniques.toArray(Strategy[]::new))
            .events(_ -> {})
            .threads(1)
            .build()) {
      if (looks) {
        var found = trainer.findLearningRate(SOURCE, LearningRateRange.defaults().in(30).to(0.1));
        assertThat(found.points()).hasSizeGreaterThan(10);
        assertThat(trainer.updates()).isZero();
      }
      trainer.fit(SOURCE, 1);
      return trainer.read(_ -> Snapshot.of(trainer));
    }
  }

  @ParameterizedTest
  @MethodSource("techniques")
  void trainingGoesOnAsIfNothingHadBeenTried(List<Strategy> techniques) {
    var plain = Ranks.of(2).callWorlds(world -> fit(world, techniques, false));
    var after = Ranks.of(2).callWorlds(world -> fit(world, techniques, true));
    for (int rank = 0; rank < 2; rank++) {
      assertThat(after.get(rank).isSameAs(plain.get(rank))).isTrue();
    }
  }

  @Test
  void aSearchHasItsPlaceAndItsRange() {
    assertThatThrownBy(() -> LearningRateRange.defaults().from(0).in(5))
        .hasMessageContaining("from: must be greater than 0, but was 0.0");
    assertThatThrownBy(() -> LearningRateRange.defaults().to(1e-9))
        .hasMessageContaining("to: must be greater than 1.0E-7, but was 1.0E-9");
    assertThatThrownBy(() -> LearningRateRange.defaults().in(9))
        .hasMessageContaining("updates: must be from 10 to 100000, but was 9");
    try (var trainer =
            Trainer.on(World.solo())
                .model(new Mlp(8, List.of(8), 4))
                .optimizer(new Sgd(0.1))
                .threads(1)
                .build();
        var _ = TensorScope.open()) {
      trainer.ownLoop().forwardBackward(SOURCE.epoch(0, 0, 1).load(0));
      assertThatThrownBy(
              () -> trainer.findLearningRate(SOURCE, LearningRateRange.defaults().in(10)))
          .hasMessageContaining("an accumulation window is open");
    }
  }
}
