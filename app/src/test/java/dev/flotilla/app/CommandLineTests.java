package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.step.Phase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CommandLineTests {

  @TempDir Path folder;

  @Test
  void showsItsCommandsWhenNoneIsGiven() {
    var ended = Flotilla.in(folder).run().expect(2);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err()).contains("Usage: flotilla").contains("train", "run", "eval", "plan");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--help | Usage: flotilla [-hV] COMMAND",
        "--version | flotilla ",
        "train --help | Usage: flotilla train",
        "run --help | Usage: flotilla run --nproc N [RECIPE]",
        "eval --help | Usage: flotilla eval",
        "plan --help | Usage: flotilla plan",
        "models --help | Usage: flotilla models",
        "data --help | Usage: flotilla data",
        "help | Usage: flotilla [-hV] COMMAND",
      })
  void answersOnStandardOutput(String arguments, String start) {
    var ended = Flotilla.in(folder).run(arguments.split(" ")).expect(0);
    assertThat(ended.out()).startsWith(start.strip());
    assertThat(ended.err()).isEmpty();
  }

  @Test
  void plansWithoutLoadingLibtorch() throws IOException {
    var loaded = folder.resolve("loaded.txt");
    // A start-up cache has classes ready that nobody uses.
    var flotilla =
        Flotilla.in(folder)
            .withJvmOption("-XX:AOTMode=off")
            .withJvmOption("-Xlog:class+load=info,library=info:file=" + loaded);

    var plan = flotilla.run("plan", "--nproc", "3", "--set", "clip.norm=1").expect(0);

    assertThat(plan.err()).isEmpty();
    assertThat(plan.out())
        .contains(Arrays.stream(Phase.values()).map(Enum::name).toList())
        .contains(
            "lenet5, 61,706 parameters",
            "EXCHANGE  dense mean",
            "ranks  3",
            "REFINE  clip to norm 1.0");
    assertThat(Files.readString(loaded))
        .contains("dev.flotilla.step.StepPlan ")
        .contains("Loaded library ")
        .doesNotContain("org.bytedeco.pytorch.global.torch", "org.bytedeco.javacpp.Loader")
        .doesNotContain("jnijavacpp", "jnitorch", "libtorch");
    assertThat(flotilla.files()).isEmpty();
  }

  @Test
  void listsModelsWithTheirParameters() {
    var text = Flotilla.in(folder).run("models").expect(0).out();
    assertThat(text)
        .contains("resnet50  25,557,032 parameters, 102.2 MB, 18 segments")
        .contains("bert-large  336,226,108 parameters")
        .contains("normalization: batch")
        .contains("bert  size depends on its keys");
    assertThat(Flotilla.in(folder).run("models", "--json").expect(0).out())
        .contains("\"parameters\" : 11689512");
  }

  @Test
  void aLearningRateIsFoundAndNothingIsLeft() {
    var flotilla = Flotilla.in(folder);
    var text =
        flotilla
            .run("lr-find", "--set", "model=mlp", "--from", "1e-4", "--updates", "30")
            .expect(0)
            .out();
    assertThat(text).contains("<- falls fastest", "suggested: --set optimizer.lr=");
    assertThat(flotilla.files()).isEmpty();
    assertThat(flotilla.run("lr-find", "--from", "0").expect(2).err())
        .contains("flotilla: --from: must be greater than 0, but was 0.0");
  }

  @Test
  void listsDataWithItsKeys() {
    var text = Flotilla.in(folder).run("data").expect(0).out();
    assertThat(text)
        .contains("cifar10", "image-folder", "synthetic-tokens", "bert-lines")
        .contains("path: (required)")
        .contains("10,000 + 2,000 handwritten digits");
  }

  /** As from cron or systemd. */
  @Test
  void theScriptFindsAJdkWithoutAHomeFolder() throws Exception {
    var script = new ProcessBuilder("bash", "-c", "source ../flotilla && find_jdk");
    script.environment().clear();
    script.environment().put("PATH", System.getProperty("java.home") + "/bin:/usr/bin:/bin");
    var process = script.redirectErrorStream(true).start();
    assertThat(new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .startsWith("/")
        .doesNotContain("HOME");
    assertThat(process.waitFor()).isZero();
  }

  /** To renew the file: {@code ./flotilla schema > docs/recipe.schema.json}. */
  @Test
  void theSchemaInTheDocumentationIsTheCurrentOne() throws IOException {
    var schema = Flotilla.in(folder).run("schema").expect(0).out();
    assertThat(Path.of("..", "docs", "recipe.schema.json"))
        .as("renew it with: ./flotilla schema > docs/recipe.schema.json")
        .hasContent(schema);
  }
}
