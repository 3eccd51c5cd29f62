package dev.flotilla.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.collective.Collective;
import dev.flotilla.collective.CollectiveSettings;
import dev.flotilla.collective.Collectives;
import dev.flotilla.memory.Precision;
import dev.flotilla.model.Answers;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Objective;
import dev.flotilla.model.SquaredError;
import dev.flotilla.optim.Sgd;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.pass.Evaluator;
import dev.flotilla.pass.ModelException;
import dev.flotilla.pass.SegmentChain;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Metrics equal scikit-learn's, each sample counted once, whatever the ranks. */
class MetricTests {

  private static final List<Metric> OF_CLASSES =
      List.of(
          new Accuracy(),
          new Accuracy(2),
          new PrecisionScore(),
          new PrecisionScore(Average.MICRO),
          new RecallScore(),
          new RecallScore(Average.MICRO),
          new F1Score(),
          new F1Score(Average.MICRO),
          new ConfusionMatrix(),
          new Auroc(),
          new Perplexity());

  private static final List<Metric> OF_NUMBERS =
      List.of(new MeanSquaredError(), new MeanAbsoluteError(), new R2Score());

  private static Evaluation evaluate(
      Collective collective, Fixture data, Objective objective, List<Metric> metrics) {
    try (var model = new BoundModel(new Echo(objective), Precision.FLOAT64, 1, _ -> false);
        var chain = new SegmentChain(model, 1, collective.rank())) {
      return new Evaluator(model, chain, collective, metrics)
          .evaluate(data, 7, () -> false)
          .orElseThrow();
    }
  }

  private static List<Evaluation> evaluations(
      int ranks, Fixture data, Objective objective, List<Metric> metrics) {
    return Ranks.call(ranks, collective -> evaluate(collective, data, objective, metrics));
  }

  private static void assertValues(int ranks, String name, Objective objective, List<Metric> all) {
    var data = Fixture.named(name);
    var results = evaluations(ranks, data, objective, all);
    data.values()
        .forEach(
            (key, value) ->
                assertThat(results.getFirst().value(key))
                    .as("%s of %s on %d ranks", key, name, ranks)
                    .isCloseTo(value, within(1e-9 * Math.abs(value))));
    assertThat(results).allMatch(it -> it.metrics().equals(results.getFirst().metrics()));
    assertThat(results.getFirst().samples()).isEqualTo(data.size());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void valuesAreThoseOfScikitLearn(int ranks) {
    assertValues(ranks, "classes", new Classification(), OF_CLASSES);
    assertValues(ranks, "two", new Classification(), OF_CLASSES);
    assertValues(ranks, "rare", new Classification(), OF_CLASSES);
    assertValues(ranks, "numbers", new SquaredError(), OF_NUMBERS);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void theConfusionMatrixIsShownByRowsOfRightClasses(int ranks) {
    for (var name : List.of("classes", "rare")) {
      var data = Fixture.named(name);
      var result = evaluations(ranks, data, new Classification(), OF_CLASSES).getFirst();
      assertThat(result.shownMetrics()).containsEntry("confusion_matrix", data.confusionMatrix());
      assertThat(result.value("confusion_matrix")).isEqualTo(result.value("accuracy"));
    }
  }

  /** Neither seven nor two samples give each of three ranks one batch. */
  @ParameterizedTest
  @ValueSource(ints = {2, 7})
  void aRankMayHaveNoSample(int samples) {
    var data = Fixture.named("classes").first(samples);
    var one = evaluations(1, data, new Classification(), OF_CLASSES).getFirst();
    var three = evaluations(3, data, new Classification(), OF_CLASSES).getFirst();
    one.values()
        .forEach((name, value) -> assertThat(three.value(name)).isCloseTo(value, within(1e-12)));
  }

  @Test
  void whatIsNotDefinedIsNotANumber() {
    var rare = Fixture.named("rare");
    var result = evaluations(1, rare, new Classification(), List.of(new Auroc())).getFirst();
    assertThat(result.value("auroc")).isNaN();
  }

  /** The largest output, which is no mean. */
  private record Largest() implements Metric {

    @Override
    public String name() {
      return "largest";
    }

    @Override
    public Tally start() {
      return new Tally() {
        private double largest = Double.NEGATIVE_INFINITY;

        @Override
        public void update(Answers answers) {
          merge(new double[] {answers.outputs().max().item_double()});
        }

        @Override
        public double[] state() {
          return new double[] {largest};
        }

        @Override
        public void merge(double[] state) {
          largest = Math.max(largest, state[0]);
        }

        @Override
        public double value() {
          return largest;
        }
      };
    }
  }

  @Test
  void metricsOfOnesOwnAreMergedToo() {
    var off = Metric.meanError("off", it -> it.outputs().sub(it.targets()).abs());
    List<Metric> own = List.of(new Largest(), off);
    var data = Fixture.named("numbers");
    var one = evaluations(1, data, new SquaredError(), own).getFirst();
    for (var each : evaluations(3, data, new SquaredError(), own)) {
      assertThat(each.value("largest")).isEqualTo(one.value("largest")).isGreaterThan(1000);
      assertThat(each.value("off")).isCloseTo(data.values().get("mae"), within(1e-9));
    }
    assertThat(off.higherIsBetter()).isFalse();
  }

  @Test
  void aNameThatWasNotMeasuredIsRefusedWithThoseThatWere() {
    var data = Fixture.named("classes").first(7);
    var result = evaluations(1, data, new Classification(), List.of(new F1Score())).getFirst();
    assertThatThrownBy(() -> result.value("f2"))
        .hasMessage(
            "no metric 'f2' was measured; did you mean 'f1'? (there are loss, accuracy,"
                + " accuracy_top5, f1)");
  }

  @Test
  void outputsThatDoNotFitAreNamed() {
    Metric shaped = Metric.mean("shaped", it -> it.outputs().matmul(it.targets()));
    var numbers = Fixture.named("numbers");
    assertThatThrownBy(() -> evaluate(solo(), numbers, new SquaredError(), List.of(shaped)))
        .isInstanceOf(ModelException.class)
        .hasMessageStartingWith(
            "metric shaped cannot judge outputs of shape 7x2 and targets of shape 7x2: ");
    assertThatThrownBy(() -> evaluate(solo(), numbers, new SquaredError(), List.of(new Accuracy())))
        .hasMessageEndingWith("it takes samples x classes, and a class for each sample");
  }

  private static Collective solo() {
    return Collectives.join(World.solo(), CollectiveSettings.defaults());
  }

  @Test
  void metricsThatDoNotFitTheLossAreRefusedBeforeAnythingStarts() {
    var builder =
        Trainer.on(World.solo()).model(new Echo(new SquaredError())).optimizer(new Sgd(0.1));
    assertThatThrownBy(() -> builder.metrics(new R2Score(), new Accuracy()).plan())
        .isInstanceOf(ConfigException.class)
        .hasMessage("metrics: accuracy cannot judge a model that is trained for regression");
    assertThatThrownBy(() -> new Accuracy(0)).hasMessageContaining("top_k: must be at least 1");
  }
}
