package dev.flotilla.metric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.SavedRun;
import dev.flotilla.config.SavedWeights;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Recipes name metrics; events and summaries tell of them. */
class MetricRecipeTests {

  private static RunConfig recipe(Object metrics) {
    return recipe(metrics, Map.of());
  }

  private static RunConfig recipe(Object metrics, Map<String, Object> more) {
    Map<String, Object> values = new HashMap<>();
    values.put("model", Map.of("name", "mlp", "hidden", List.of(8)));
    values.put("data", "digits");
    values.put("batch", 64);
    values.put("max_steps", 2);
    values.put("eval", Map.of("batch", 2000));
    values.put("device", "cpu");
    values.put("threads", 1);
    values.put("optimizer", Map.of("name", "sgd", "lr", 0.1));
    values.put("metrics", metrics);
    values.putAll(more);
    return RunConfig.read(Recipe.of("test", values), Catalogue.installed());
  }

  private static final List<Object> SOME =
      List.of(
          "f1",
          Map.of("name", "accuracy", "top_k", 3),
          Map.of("name", "f1", "average", "micro"),
          "confusion_matrix");

  @Test
  void aRecipeListsMetricsInOrderAndWithTheirKeys() {
    var config = recipe(SOME);
    assertThat(config.metrics())
        .containsExactly(
            new F1Score(), new Accuracy(3), new F1Score(Average.MICRO), new ConfusionMatrix());
    var again = RunConfig.read(Recipe.of("again", config.resolved()), Catalogue.installed());
    assertThat(again.metrics()).isEqualTo(config.metrics());
    assertThat(config.facts().get("metrics")).contains("confusion_matrix").contains("micro");
  }

  @Test
  void eventsAndTheSummaryHoldMetrics(@TempDir Path folder) {
    List<TrainingEvent.Evaluated> evaluations = new ArrayList<>();
    var summary =
        new ConfiguredRun(recipe(SOME), World.solo())
            .run(
                folder.resolve("run"),
                event -> {
                  if (event instanceof TrainingEvent.Evaluated evaluated) {
                    evaluations.add(evaluated);
                  }
                });
    var last = evaluations.getLast();
    assertThat(last.metrics())
        .containsOnlyKeys("f1", "accuracy_top3", "f1_micro", "confusion_matrix")
        .containsEntry("f1_micro", last.acc1());
    assertThat(summary.get("metrics")).isEqualTo(last.metrics());
    assertThat(folder.resolve("run/events.jsonl"))
        .content()
        .contains("\"metrics\":{\"f1\":" + last.metrics().get("f1"));
  }

  /** Another set of the same samples has the same values; one of other samples has others. */
  @Test
  void otherDataIsEvaluatedUnderItsName(@TempDir Path folder) {
    Map<String, Object> eval =
        Map.of(
            "every",
            1,
            "also",
            Map.of(
                "again",
                "digits",
                "noise",
                Map.of(
                    "name",
                    "synthetic-images",
                    "channels",
                    1,
                    "side",
                    32,
                    "classes",
                    10,
                    "samples",
                    64,
                    "test_samples",
                    8)));
    var config =
        recipe(
            List.of("f1"),
            Map.of(
                "eval",
                eval,
                "stop_when",
                Map.of("metric", "noise/f1", "patience", 1, "min_delta", 1),
                "checkpoint",
                Map.of("best", "again/loss"),
                "max_steps",
                5));
    var again = RunConfig.read(Recipe.of("again", config.resolved()), Catalogue.installed());
    assertThat(again.eval()).isEqualTo(config.eval());
    assertThat(config.facts()).containsEntry("eval.also.again.name", "digits");
    List<TrainingEvent.Evaluated> evaluations = new ArrayList<>();
    var run = folder.resolve("run");
    var summary =
        new ConfiguredRun(config, World.solo())
            .run(
                run,
                event -> {
                  if (event instanceof TrainingEvent.Evaluated evaluated) {
                    evaluations.add(evaluated);
                  }
                });
    var last = evaluations.getLast();
    assertThat(last.update()).isEqualTo(2);
    assertThat(last.metrics())
        .containsEntry("again/loss", last.loss())
        .containsEntry("again/accuracy", last.acc1())
        .containsEntry("again/f1", last.metrics().get("f1"))
        .containsKeys("noise/loss", "noise/accuracy_top5", "noise/f1");
    assertThat(last.metrics().get("noise/loss")).isNotEqualTo(last.loss());
    assertThat(summary.get("metrics")).isEqualTo(last.metrics());
    assertThat((Map<?, ?>) summary.get("best")).extracting("metric").isEqualTo("again/loss");
    var saved = SavedRun.evaluate(run, SavedWeights.LIVE, config, World.solo());
    assertThat(saved.shownMetrics()).isEqualTo(last.metrics());
  }

  @Test
  void otherDataThatCannotBeIsRefusedWithItsPlace() {
    var stop = Map.of("metric", "hart/loss");
    var also = Map.of("also", Map.of("hard", "digits"));
    assertThatThrownBy(
            () ->
                new ConfiguredRun(
                    recipe(List.of(), Map.of("eval", also, "stop_when", stop)), World.solo()))
        .hasMessageContaining(
            "stop_when.metric: 'hart/loss' is not measured; did you mean 'hard/loss'? (there are"
                + " loss, accuracy, accuracy_top5, hard/loss, hard/accuracy, hard/accuracy_top5");
    var missing = Map.of("also", Map.of("hard", Map.of("name", "mnist", "path", "/there/is/none")));
    assertThatThrownBy(
            () -> new ConfiguredRun(recipe(List.of(), Map.of("eval", missing)), World.solo()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("eval.also.hard");
    assertThatThrownBy(
            () -> recipe(List.of(), Map.of("eval", Map.of("also", Map.of("a b", "digits")))))
        .hasMessageContaining(
            "eval.also: names must be of letters, digits, _ and -, but was 'a b'");
    assertThatThrownBy(() -> recipe(List.of(), Map.of("eval", Map.of("also", "digits"))))
        .hasMessageContaining("eval.also: must be a mapping such as {a: ...}, but was the text");
    assertThatThrownBy(
            () -> recipe(List.of(), Map.of("eval", Map.of("also", Map.of("hard", "digit")))))
        .hasMessageContaining("unknown data source 'digit'; did you mean 'digits'?");
  }

  @Test
  void aMisspeltMetricIsTaughtTheNearestName() {
    assertThatThrownBy(() -> recipe(List.of("f1", "auroq")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("metrics[1]: unknown metric 'auroq'; did you mean 'auroc'?");
    assertThatThrownBy(() -> recipe(List.of(Map.of("name", "accuracy", "topk", 3))))
        .hasMessageContaining("did you mean 'top_k'?");
    assertThatThrownBy(() -> recipe("f1")).hasMessageContaining("must be a list");
  }

  @Test
  void metricsThatCannotBeAreRefusedWithTheirPlace() {
    var config = recipe(List.of("f1", "mse", "f1"));
    assertThatThrownBy(() -> new ConfiguredRun(config, World.solo()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(
            "metrics[1]: mse cannot judge a model that is trained for classification")
        .hasMessageContaining("metrics[2]: f1 is asked for a second time");
  }
}
