package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.flotilla.memory.DeviceChoice;
import dev.flotilla.memory.Precision;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.clip.Clip;
import dev.flotilla.train.Every;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import dev.flotilla.world.WorldException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class RunConfigTests {

  static final String FULL =
      """
      # every key
      model: {name: mlp, hidden: [300, 100], dropout: 0.1}
      data:
        name: mnist
        path: some/mnist folder
      batch: 32
      max_steps: 1000
      precision: float64
      seed: 9007199254740993
      device: cpu
      threads: 3
      optimizer: {name: adam, lr: 1e-3, betas: [0.8, 0.99], eps: 1.5e-9, weight_decay: .01}
      schedule: {name: cosine, warmup_steps: 10}
      clip: {norm: 1}
      eval: {every: 50, batch: 100}
      log_every: 5
      timeout: 1500ms
      join_timeout: 2m
      freeze: ["fc1.*", 'a, b']
      no_decay: []
      strategy:
        recompute: {}
        gradient_merge: {k_steps: 4}
      """;

  private static final String SHORT = "{model: lenet5, data: digits, batch: 8, optimizer: adam}";

  @TempDir Path folder;

  @Test
  void fillsInDefaults() {
    var config = TestCatalogue.read(SHORT);
    assertThat(config.epochs()).isEqualTo(1);
    assertThat(config.maxSteps()).isNull();
    assertThat(config.precision()).isEqualTo(Precision.FLOAT32);
    assertThat(config.seed()).isEqualTo(42);
    assertThat(config.device()).isEqualTo(DeviceChoice.AUTO);
    assertThat(config.threads()).isNull();
    assertThat(config.schedule()).isEqualTo(new TestCatalogue.Constant(0));
    assertThat(config.clip()).isNull();
    assertThat(config.eval()).isEqualTo(new Eval(new Every.Epoch(), 256, null));
    assertThat(config.logEvery()).isEqualTo(10);
    assertThat(config.timeout()).isEqualTo(Duration.ofSeconds(60));
    assertThat(config.joinTimeout()).isEqualTo(Duration.ofSeconds(60));
    assertThat(config.freeze()).isEmpty();
    assertThat(config.noDecay()).isNull();
    assertThat(config.strategy()).isEmpty();
  }

  @Test
  void readsEveryKey() {
    var config = TestCatalogue.read(FULL);
    assertThat(config.model()).isEqualTo(new TestCatalogue.Mlp(List.of(300, 100), 0.1));
    assertThat(config.data()).isEqualTo(new TestCatalogue.Mnist(Path.of("some/mnist folder")));
    assertThat(config.seed()).isEqualTo(9007199254740993L);
    assertThat(config.optimizer())
        .isEqualTo(new TestCatalogue.Adam(1e-3, List.of(0.8, 0.99), 1.5e-9, 0.01));
    assertThat(config.clip()).isEqualTo(new Clip(1.0, null));
    assertThat(config.timeout()).isEqualTo(Duration.ofMillis(1500));
    assertThat(config.joinTimeout()).isEqualTo(Duration.ofMinutes(2));
    assertThat(config.noDecay()).isEmpty();
    assertThat(config.strategy())
        .containsExactly(new TestCatalogue.GradientMerge(4, true), new TestCatalogue.Recompute());
  }

  @Test
  void doesNotDependOnTheOrderOfTechniques() {
    String swapped = FULL.replaceFirst("  recompute: \\{}\n", "") + "  recompute: {}\n";
    assertThat(TestCatalogue.read(swapped)).isEqualTo(TestCatalogue.read(FULL));
  }

  @ParameterizedTest
  @ValueSource(strings = {FULL, SHORT})
  void comesBackFromItsResolvedForm(String recipe) {
    var config = TestCatalogue.read(recipe);
    var again = RunConfig.read(Recipe.of("summary", config.resolved()), TestCatalogue.catalogue());
    assertThat(again).isEqualTo(config);
    assertThat(again.facts()).isEqualTo(config.facts());
  }

  @Test
  void resolvesToPlainValuesInTheOrderOfTheRecord() {
    var resolved = TestCatalogue.read(SHORT).resolved();
    assertThat(resolved.keySet())
        .containsExactly(
            "model",
            "data",
            "batch",
            "epochs",
            "precision",
            "seed",
            "device",
            "optimizer",
            "schedule",
            "schedule_per",
            "exchange",
            "batch_norm",
            "eval",
            "metrics",
            "init_from",
            "non_finite",
            "compare_every",
            "log_every",
            "timeout",
            "join_timeout",
            "freeze",
            "freeze_statistics",
            "groups",
            "layer_decay",
            "strategy");
    assertThat(resolved)
        .containsEntry("model", Map.of("name", "lenet5", "classes", 10))
        .containsEntry("timeout", "60s")
        .containsEntry("strategy", Map.of());
    assertThat(TestCatalogue.read(FULL).resolved())
        .containsEntry("eval", Map.of("every", 50, "batch", 100));
  }

  @Test
  void listsWhatRanksMustAgreeOn() {
    assertThat(TestCatalogue.read(FULL).facts())
        .containsEntry("data.name", "mnist")
        .containsEntry("batch", "32")
        .containsEntry("optimizer.lr", "0.001")
        .containsEntry("optimizer.betas", "[0.8, 0.99]")
        .containsEntry("freeze", "[\"fc1.*\", \"a, b\"]")
        .containsEntry("strategy.recompute", "{}")
        .containsEntry("strategy.gradient_merge.k_steps", "4")
        .doesNotContainKeys("threads", "data.path");
    assertThat(TestCatalogue.read(FULL, "threads=1", "data.path=elsewhere").facts())
        .isEqualTo(TestCatalogue.read(FULL).facts());
    assertThat(TestCatalogue.read(FULL, "strategy.recompute=false").facts())
        .isNotEqualTo(TestCatalogue.read(FULL).facts());
  }

  @ParameterizedTest
  @CsvSource({"0, 1, 64, 64", "0, 3, 64, 21", "1, 3, 64, 21", "2, 3, 64, 22", "3, 4, 4, 1"})
  void dividesTheGlobalBatch(int rank, int ranks, int samples, int share) {
    var config =
        TestCatalogue.read(
            "{model: lenet5, data: digits, optimizer: adam}", "global_batch=" + samples);
    assertThat(config.batchOn(world(rank, ranks))).isEqualTo(share);
  }

  @Test
  void givesEachRankTheBatchPerRank() {
    assertThat(TestCatalogue.read(SHORT).batchOn(world(1, 3))).isEqualTo(8);
  }

  @Test
  void refusesAGlobalBatchSmallerThanTheWorld() {
    var config = TestCatalogue.read(SHORT, "global_batch=3");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> config.batchOn(world(0, 4)))
        .withMessage(
            "--set global_batch=3: global_batch: must be at least 4, the number of ranks, but was"
                + " 3");
  }

  @Test
  void dividesTheCoresAmongTheRanksOfAHost() {
    var config = TestCatalogue.read(SHORT);
    assertThat(config.threadsOn(world(0, 2), Map.of(), 8)).isEqualTo(4);
    assertThat(config.threadsOn(world(0, 4), Map.of(), 2)).isEqualTo(1);
  }

  @Test
  void prefersThreadsThatAreStated() {
    var environment = Map.of("OMP_NUM_THREADS", "3");
    var config = TestCatalogue.read(SHORT, "threads=7");
    assertThat(config.threadsOn(world(0, 2), environment, 8)).isEqualTo(7);
    assertThat(TestCatalogue.read(SHORT).threadsOn(world(0, 2), environment, 8)).isEqualTo(3);
    var nested = Map.of("OMP_NUM_THREADS", "4,2");
    assertThat(TestCatalogue.read(SHORT).threadsOn(world(0, 2), nested, 8)).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(strings = {"many", "0", "-1", "1025", "10000", "2x", ",4"})
  void refusesAnEnvironmentThatNamesNoNumberOfThreads(String text) {
    assertThatExceptionOfType(WorldException.class)
        .isThrownBy(
            () ->
                TestCatalogue.read(SHORT)
                    .threadsOn(world(0, 2), Map.of("OMP_NUM_THREADS", text), 8))
        .withMessage(
            "OMP_NUM_THREADS must be a whole number from 1 to 1024, but was '%s': set it so, or"
                + " unset it",
            text);
  }

  private static World world(int rank, int ranks) {
    return new World(rank, ranks, rank, ranks, 0, 1, rendezvous(ranks));
  }

  private static Rendezvous rendezvous(int ranks) {
    return ranks == 1 ? new Rendezvous.None() : new Rendezvous.SharedFile(Path.of("meet"));
  }

  @Test
  void tellsWhereMissingDataWasNamed() {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> TestCatalogue.read(FULL).checkData())
        .withMessage("recipe.yaml:5: data.path: there is no folder some/mnist folder");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> TestCatalogue.read(FULL, "data.path=gone").checkData())
        .withMessage("--set data.path=gone: data.path: there is no folder gone");
    TestCatalogue.read(FULL, "data.path='" + folder + "'").checkData();
  }

  @Test
  void readsTheArgumentsOfAProgram() throws IOException {
    String recipe = Files.writeString(folder.resolve("r.yaml"), SHORT).toString();
    var arguments =
        arguments("--set", "seed=3", recipe, "--max-steps", "5", "--out", "o", "x", "--", "--set");
    assertThat(arguments.config().seed()).isEqualTo(3);
    assertThat(arguments.config().maxSteps()).isEqualTo(5);
    assertThat(arguments.out()).contains(Path.of("o"));
    assertThat(arguments.rest()).containsExactly("x", "--set");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'' | RECIPE: name a recipe file first",
        "--sett | --sett: unknown option; did you mean '--set'? (allowed: --set, --max-steps,"
            + " --out",
        "r.yaml --out | --out: needs a value",
        "none.yaml | none.yaml: there is no such recipe file",
      })
  void saysWhatIsWrongWithArguments(String line, String message) {
    String[] words = line.isEmpty() ? new String[0] : line.split(" ");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> arguments(words))
        .withMessageStartingWith(message);
  }

  private static RunArguments arguments(String... args) {
    return ArgumentReader.read(List.of(args), TestCatalogue.catalogue());
  }
}
