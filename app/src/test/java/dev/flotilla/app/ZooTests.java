package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models and data of the zoo through the command line: training, fine-tuning, evaluation. */
class ZooTests {

  private static final String BERT =
      """
      model: {name: bert-tiny, vocab_size: 60, hidden_size: 16, num_hidden_layers: 1, \
      num_attention_heads: 2, intermediate_size: 32, max_position_embeddings: 32}
      data: {name: synthetic-tokens, vocab_size: 60, length: 24, samples: 32, test_samples: 9}
      batch: 8
      max_steps: 3
      threads: 1
      optimizer: {name: adamw, lr: 0.001}
      """;

  private static final String RESNET =
      """
      model: {name: resnet18, width: 4, stem: cifar, classes: 5}
      data: {name: synthetic-images, side: 32, classes: 5, samples: 16, test_samples: 7}
      batch: 4
      max_steps: 3
      threads: 1
      optimizer: {name: momentum, lr: 0.01}
      strategy: {gradient_merge: {k_steps: 2}}
      """;

  @TempDir static Path folder;
  private static Flotilla flotilla;

  @BeforeAll
  static void train() throws IOException {
    flotilla = Flotilla.in(folder);
    Files.createDirectories(flotilla.work());
    Files.writeString(flotilla.work().resolve("bert.yaml"), BERT);
    Files.writeString(flotilla.work().resolve("resnet.yaml"), RESNET);
    flotilla.run("train", "bert.yaml", "--out=bert").expect(0);
    flotilla.run("train", "resnet.yaml", "--out=resnet").expect(0);
  }

  @Test
  void evaluatesBert() {
    var text = flotilla.run("eval", "--checkpoint=bert").expect(0).out();
    assertThat(text).contains("on 9 samples");
    assertThat(RunFiles.json(read("bert/summary.json")).get("data_wait_seconds").asDouble())
        .isPositive();
  }

  @Test
  void writesWhatFromPretrainedReads() {
    var configuration = RunFiles.json(read("bert/config.json"));
    assertThat(configuration.get("model_type").asString()).isEqualTo("bert");
    assertThat(configuration.get("hidden_size").asInt()).isEqualTo(16);
    assertThat(flotilla.work().resolve("resnet/config.json")).doesNotExist();
  }

  @Test
  void finetunesBertUnderANewHead() {
    var tuned =
        flotilla.run(
            "train",
            "bert.yaml",
            "--set=model.classes=3",
            "--set=data.task=classification",
            "--set=data.classes=3",
            "--set=freeze=[bert.*]",
            "--init-from=bert/model.safetensors",
            "--no-strict",
            "--out=tuned-bert");
    assertThat(tuned.expect(0).out())
        .contains("missing (2): classifier.bias, classifier.weight")
        .contains("unexpected (7): cls.predictions.bias");
    assertTunedOn("bert", "tuned-bert", name -> name.startsWith("bert."), "classifier.bias", 3);
    assertThat(flotilla.run("eval", "--checkpoint=tuned-bert").expect(0).out())
        .contains("on 9 samples");
  }

  @Test
  void finetunesResNetForOtherClasses() {
    var tuned =
        flotilla.run(
            "train",
            "resnet.yaml",
            "--set=model.classes=9",
            "--set=data.classes=9",
            "--set=init_from={path: resnet, strict: false}",
            "--set=freeze=[conv1.*, bn1.*, layer*]",
            "--out=tuned-resnet");
    assertThat(tuned.expect(0).out())
        .contains("120 tensors of resnet are loaded; not all fit:")
        .contains("mismatched (2): fc.bias: [5] in the file, [9] in the model, fc.weight: [5, 32]")
        .doesNotContain("missing", "unexpected");
    assertTunedOn(
        "resnet", "tuned-resnet", name -> !name.matches("fc\\..*|.*\\.running_.*"), "fc.bias", 9);
    var scores = flotilla.run("eval", "--checkpoint=tuned-resnet", "--json").expect(0).out();
    assertThat(RunFiles.json(scores).get("samples").asInt()).isEqualTo(7);
  }

  /** Checks that a frozen body is that of the first run, and that there is a new head on top. */
  private static void assertTunedOn(
      String start, String tuned, Predicate<String> isBody, String head, int classes) {
    var before = new RunFiles(flotilla.work().resolve(start)).tensors();
    var run = new RunFiles(flotilla.work().resolve(tuned));
    var after = run.tensors();
    var body = before.keySet().stream().filter(isBody).toList();
    assertThat(body).hasSizeGreaterThan(20);
    assertThat(body).allSatisfy(name -> assertThat(after.get(name)).isEqualTo(before.get(name)));
    assertThat(run.summary().get("updates").asInt()).isEqualTo(3);
    assertThat(run.summary().get("loss").asDouble()).isFinite();
    assertThat(after.get(head)).hasSize(classes).isNotEqualTo(new float[classes]);
  }

  @Test
  void refusesWeightsThatDoNotFitUnlessAllowed() {
    var refused =
        flotilla
            .run(
                "train",
                "resnet.yaml",
                "--set=model.classes=9",
                "--set=data.classes=9",
                "--init-from=resnet/model.safetensors",
                "--out=refused")
            .expect(ExitCodes.CHECKPOINT)
            .explainsItself();
    assertThat(refused.err())
        .contains("mismatched (2): fc.bias: [5] in the file, [9] in the model, fc.weight: [5, 32]");
  }

  @Test
  void startsFromWeightsExactly() {
    flotilla
        .run(
            "train",
            "bert.yaml",
            "--init-from=bert",
            "--set=optimizer.lr=1e-30",
            "--set=freeze=[bert.*, cls.predictions.*]",
            "--set=seed=77",
            "--max-steps=1",
            "--out=again")
        .expect(0);
    assertThat(new RunFiles(flotilla.work().resolve("again")).weights())
        .isEqualTo(new RunFiles(flotilla.work().resolve("bert")).weights());
  }

  @Test
  void namesTheWayOutWhereMergingMeetsBatchNorm() {
    assertThat(flotilla.run("plan", "resnet.yaml").expect(0).out())
        .contains("batch_norm: whole_window")
        .contains("normalization: group");
    assertThat(
            flotilla
                .run(
                    "plan",
                    "resnet.yaml",
                    "--set=model.normalization=group",
                    "--set=model.groups=2")
                .expect(0)
                .out())
        .doesNotContain("BatchNorm");
  }

  private static String read(String name) {
    try {
      return Files.readString(flotilla.work().resolve(name));
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
