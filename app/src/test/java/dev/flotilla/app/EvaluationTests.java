package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Evaluation over ranks counts each sample exactly once and gives what one process gives. */
class EvaluationTests {

  /** Neither 2 nor 3 divide 101 samples; a global batch of 1 would not do for training on them. */
  private static final String RECIPE =
      """
      model: {name: resnet18, width: 4, stem: cifar, classes: 5}
      data: {name: synthetic-images, side: 16, classes: 5, samples: 64, test_samples: 101}
      global_batch: 1
      max_steps: 12
      threads: 1
      eval: {every: end, batch: 7}
      optimizer: {name: momentum, lr: 0.01}
      init_from: {path: start/model.safetensors}
      """;

  @TempDir static Path folder;
  private static Flotilla flotilla;
  private static JsonNode alone;

  @BeforeAll
  static void train() throws IOException {
    flotilla = Flotilla.in(folder);
    Files.createDirectories(flotilla.work());
    Files.writeString(flotilla.work().resolve("recipe.yaml"), RECIPE);
    flotilla
        .run("train", "recipe.yaml", "--set=init_from=null", "--max-steps=1", "--out=start")
        .expect(0);
    flotilla.run("train", "recipe.yaml", "--out=run").expect(0);
    // A saved run needs nothing but its own folder.
    Files.delete(flotilla.work().resolve("start/model.safetensors"));
    alone = json(flotilla.run("eval", "--checkpoint=run", "--json").expect(0));
  }

  private static JsonNode json(Ended ended) {
    return RunFiles.json(ended.out());
  }

  @Test
  void ranksCountEachSampleOnce() {
    var ended = flotilla.run("eval", "--nproc=3", "--checkpoint=run", "--json").expect(0);
    assertSame(json(ended), alone);
    assertThat(ended.err()).contains("nproc_per_node: 3").contains("on 101 samples");
    assertThat(flotilla.files())
        .noneMatch(file -> file.startsWith("tmp/"))
        .noneMatch(file -> file.contains("result"));
  }

  @Test
  void aRankMayHaveNoSample() {
    var data =
        "--data={name: synthetic-images, side: 16, classes: 5, samples: 64, test_samples: 1}";
    var few = json(flotilla.run("eval", "--checkpoint=run", data, "--json").expect(0));
    var ended = flotilla.run("eval", "--nproc=2", "--checkpoint=run", data, "--json").expect(0);
    assertThat(few.get("samples").asInt()).isEqualTo(1);
    assertSame(json(ended), few);
  }

  /** Other parts make other sums of float32; counts are exact. */
  private static void assertSame(JsonNode actual, JsonNode expected) {
    for (var key : new String[] {"accuracy", "accuracy_top5", "samples"}) {
      assertThat(actual.get(key).asDouble()).as(key).isEqualTo(expected.get(key).asDouble());
    }
    double loss = expected.get("loss").asDouble();
    assertThat(actual.get("loss").asDouble()).isCloseTo(loss, within(1e-6 * loss));
  }

  @Test
  void rankZeroPrintsTheScoreOfACheckpoint() throws IOException {
    try (var checkpoints = Files.list(flotilla.work().resolve("run/checkpoints"))) {
      var newest = checkpoints.filter(Files::isDirectory).findFirst().orElseThrow().toString();
      var ended = flotilla.run("eval", "--checkpoint", newest, "--nproc", "2").expect(0);
      assertThat(ended.out().lines().filter(line -> line.contains("on 101 samples")))
          .singleElement(InstanceOfAssertFactories.STRING)
          .startsWith("acc1 %.2f  ".formatted(100 * alone.get("accuracy").asDouble()));
      assertThat(ended.err()).isEmpty();
    }
    var log = flotilla.work().resolve("run/log/eval");
    assertThat(log.resolve("workerlog.0")).content().contains("acc1").contains("on 101 samples");
    assertThat(log.resolve("workerlog.1")).isEmptyFile();
  }

  /** Batches are dealt to ranks in turn, so that not one digit may differ. */
  @Test
  void predictionsAreTheSameFileOverRanks() throws IOException {
    var one = flotilla.work().resolve("one.csv");
    flotilla.run("predict", "run", "--out", "one.csv").expect(0);
    var printed = flotilla.run("predict", "run", "--nproc=2").expect(0);
    assertThat(one).hasContent(printed.out());
    assertThat(Files.readAllLines(one))
        .hasSize(102)
        .startsWith("sample,class,probability,0,1,2,3,4")
        .last(InstanceOfAssertFactories.STRING)
        .startsWith("100,");
  }

  @Test
  void predictionsAsJsonNameClassesAndProbabilities() throws IOException {
    flotilla.run("predict", "run", "--out=rows.jsonl").expect(0);
    var rows = Files.readAllLines(flotilla.work().resolve("rows.jsonl"));
    assertThat(rows).hasSize(101);
    var last = RunFiles.json(rows.getLast());
    assertThat(last.get("sample").asInt()).isEqualTo(100);
    var best = last.get("class").asString();
    assertThat(last.get("probabilities").get(best)).isEqualTo(last.get("probability"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run --out=rows.txt | must end in .csv or .jsonl, but was rows.txt",
        "run --data=digits | takes images of 3 channels, but the data gives images of 1x32x32",
        "nowhere --nproc=2 | nowhere does not exist",
        "run --nprocs=2 | did you mean --nproc?",
      })
  void mistakesOfAPredictionAreSaidBeforeAnythingStarts(String arguments, String message) {
    var ended = Ended.here(("predict " + flotilla.work() + "/" + arguments).split(" ")).expect(2);
    assertThat(ended.explainsItself().err()).contains(message);
    assertThat(ended.out()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--nproc=2 --checkpoint=nowhere | 2 | nowhere does not exist",
        "--nproc=0 --checkpoint=run | 2 | --nproc must be a whole number from 1 to 1024",
        "--nproc=2 | 2 | --checkpoint",
        "--nprocs=2 --checkpoint=run | 2 | did you mean --nproc?",
        "--nproc=2 --checkpoint=run --main=Main | 2 | belongs to flotilla run",
        "--nproc=2 --checkpoint=run --data={name: mnist, path: no} | 2 | data.path",
      })
  void mistakesAreSaidBeforeAnyRankStarts(String arguments, int code, String message) {
    var saved = arguments.replace("--checkpoint=", "--checkpoint=" + flotilla.work() + "/");
    var ended = Ended.here(("eval " + saved).split(" (?=--)")).expect(code);
    assertThat(ended.explainsItself().err()).contains(message);
    assertThat(ended.out()).isEmpty();
  }

  @Test
  void aDamagedModelIsNamedOverRanks() throws IOException {
    var damaged = Files.createDirectories(flotilla.work().resolve("damaged"));
    var run = new RunFiles(flotilla.work().resolve("run"));
    Files.copy(run.folder().resolve("summary.json"), damaged.resolve("summary.json"));
    Files.write(damaged.resolve("model.safetensors"), new byte[100]);
    var ended = flotilla.run("eval", "--nproc=2", "--checkpoint=damaged");
    assertThat(ended.expect(ExitCodes.CHECKPOINT).err())
        .contains("rank 0 failed")
        .contains("damaged/model.safetensors");
  }
}
