package dev.flotilla.zoo.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Change;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.SavedRun;
import dev.flotilla.config.SavedWeights;
import dev.flotilla.predict.Predictor;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.World;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run by a recipe keeps what it learned of its table, and uses it for other files. */
final class TableRunTests {

  @TempDir Path folder;

  /** The class is the colour's, and the number of a regression twice that of a. */
  @BeforeEach
  void makeTable() throws IOException {
    var text = new StringBuilder("a,colour,class,twice\n");
    for (int i = 0; i < 60; i++) {
      boolean isRed = i % 3 == 0;
      text.append("%d,%s,%s,%d\n".formatted(i, isRed ? "red" : "blue", isRed ? "p" : "q", 2 * i));
    }
    Files.writeString(folder.resolve("t.csv"), text);
  }

  private RunConfig config(String data, String rest) {
    var recipe =
        """
        data: {name: csv, path: %s, %s}
        %s
        batch: 8
        epochs: 20
        device: cpu
        threads: 1
        """
            .formatted(folder.resolve("t.csv"), data, rest);
    return RunConfig.read(Recipe.parse("recipe", recipe), Catalogue.installed());
  }

  private Path train(RunConfig config) {
    var run = folder.resolve("run");
    new ConfiguredRun(config, World.solo()).run(run, _ -> {});
    return run;
  }

  private static final String CLASSIFIER =
      """
      model: {name: mlp, inputs: 3, hidden: [8], classes: 2}
      optimizer: {name: adam, lr: 0.05}
      """;

  private Path trainClassifier() {
    return train(config("label: class, columns: {exclude: [twice]}", CLASSIFIER));
  }

  /** Alone, this row would be standardized to 0, and its colour would be the only one. */
  @Test
  void anotherFileIsSeenAsTheTrainingRowsWere() throws IOException {
    var run = trainClassifier();
    assertThat(SavedRun.summary(run))
        .containsEntry("class_names", List.of("p", "q"))
        .containsEntry("sample_shape", List.of(3));
    var file = Files.writeString(folder.resolve("new.csv"), "colour,a\nred,3\nblue,4\n");
    try (var predictor = Predictor.load(run)) {
      var rows = predictor.predict(Csv.like(run, file).unlabelled(), 0, 1);
      assertThat(rows.get(0).className()).isEqualTo("p");
      assertThat(rows.get(1).className()).isEqualTo("q");
    }
  }

  @Test
  void evaluationOnAnotherFileTakesWhatTheRunLearned() throws IOException {
    var run = trainClassifier();
    var file = Files.writeString(folder.resolve("new.csv"), "class,colour,a\np,red,3\nq,red,6\n");
    var change = Change.option("--data", "data", "{name: csv, path: %s}".formatted(file));
    var config = SavedRun.config(run, List.of(change));
    assertThat(((Csv) config.data()).preprocessing()).isEqualTo(run.resolve("preprocessing.json"));
    var evaluation = SavedRun.evaluate(run, SavedWeights.LIVE, config, World.solo());
    assertThat(evaluation.samples()).isEqualTo(2);
    assertThat(evaluation.score().acc1()).isEqualTo(0.5);
  }

  @Test
  void evaluationNeedsLabelsAndPredictionDoesNot() throws IOException {
    var run = trainClassifier();
    var file = Files.writeString(folder.resolve("new.csv"), "colour,a\nred,3\n");
    var change = Change.option("--data", "data", "{name: csv, path: %s}".formatted(file));
    var config = SavedRun.config(run, List.of(change));
    SavedRun.checkData(config);
    assertThat(config.data().unlabelled().size()).isEqualTo(1);
    assertThatThrownBy(() -> SavedRun.evaluate(run, SavedWeights.LIVE, config, World.solo()))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("new.csv: has no column 'class', which answers are compared with");
  }

  @Test
  void theRunItselfIsEvaluatedOnItsOwnTestRows() {
    var run = trainClassifier();
    var evaluation =
        SavedRun.evaluate(run, SavedWeights.LIVE, SavedRun.config(run, List.of()), World.solo());
    assertThat(evaluation.samples()).isEqualTo(12);
    assertThat(evaluation.score().acc1()).isEqualTo(1.0);
  }

  @Test
  void aRegressionLearnsNumbers() {
    var run =
        train(
            config(
                "label: twice, task: regression, columns: {include: [a]}",
                """
                model: {name: mlp, inputs: 1, hidden: [], classes: 1}
                objective: mse
                metrics: [r2, mae]
                optimizer: {name: adam, lr: 2}
                """));
    var summary = SavedRun.summary(run);
    var metrics = (Map<?, ?>) Objects.requireNonNull(summary.get("metrics"));
    var r2 = (Number) Objects.requireNonNull(metrics.get("r2"));
    assertThat(r2.doubleValue()).isBetween(0.9, 1.0);
  }

  private AbstractThrowableAssert<?, ?> assertRefused(String data, String model, String rest) {
    var config =
        config(
            data,
            "model: {name: mlp, %s}\noptimizer: {name: sgd, lr: 0.1}\n".formatted(model) + rest);
    return assertThatThrownBy(() -> new ConfiguredRun(config, World.solo()))
        .isInstanceOf(ConfigException.class);
  }

  @Test
  void anObjectiveOfAnotherTaskIsRefused() {
    assertRefused("label: twice, task: regression", "inputs: 5, classes: 1", "")
        .hasMessageContaining("objective: must be one for numbers")
        .hasMessageContaining("objective: mse, l1 or huber");
    assertRefused("label: class", "inputs: 4, classes: 2", "objective: mse")
        .hasMessageContaining("data.task: is labelled with classes");
  }

  @Test
  void aModelOfOtherWidthsIsRefused() {
    assertRefused("label: class", "inputs: 2", "")
        .hasMessageContaining(
            "model.inputs: must be 4, the numbers of rows of 4 numbers that the data gives");
    assertRefused("label: twice, task: regression", "inputs: 5", "objective: l1")
        .hasMessageContaining("model.classes: must be 1, the number to guess, but was 10");
  }

  @Test
  void otherDataIsNotNormalisedByItself() {
    var also = "eval: {also: {other: {name: csv, path: %s, label: class}}}";
    assertRefused("label: class", "inputs: 4", also.formatted(folder.resolve("t.csv")))
        .hasMessageContaining("eval.also.other: would be normalised by itself");
  }
}
