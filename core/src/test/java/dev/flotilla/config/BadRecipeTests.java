package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a user reads when a recipe is wrong. */
final class BadRecipeTests {

  private static final String GOOD =
      """
      model: lenet5
      data: digits
      batch: 64
      optimizer: {name: momentum, lr: 0.05}
      """;

  private static List<String> problems(String recipe, String... sets) {
    try {
      TestCatalogue.read(recipe, sets);
      return List.of();
    } catch (ConfigException e) {
      return e.problems().stream().map(Problem::toString).toList();
    }
  }

  @Test
  void acceptsTheRecipeThatTheOthersAreMadeFrom() {
    assertThat(problems(GOOD)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // one wrong line each, as line 5 of an otherwise good recipe
        "sede: 1 | sede: unknown key; did you mean 'seed'?",
        "batch_size: 8 | batch_size: unknown key; did you mean 'batch'?",
        "learning_rate: 1 | learning_rate: unknown key; did you mean 'optimizer.lr'?",
        "lr: 1 | lr: unknown key; did you mean 'optimizer.lr'?",
        "max_epochs: 8 | max_epochs: unknown key; did you mean 'epochs'?",
        "gradient_accumulation_steps: 8 | gradient_accumulation_steps: unknown key; did you mean"
            + " 'strategy.gradient_merge.k_steps'?",
        "clip: {max_norm: 1} | clip.max_norm: unknown key; did you mean 'norm'?",
        "seed: -1 | seed: must be at least 0, but was -1",
        "seed: 2.5 | seed: must be a whole number, but was '2.5'",
        "seed: four | seed: must be a whole number, but was 'four'",
        "seed: '\"4\"' | seed: must be a whole number, but was the text \"4\"",
        "seed: 0x10 | seed: must be a whole number, but was '0x10'",
        "seed: 0o17 | seed: must be a whole number, but was '0o17'",
        "seed: 1_000 | seed: must be a whole number, but was '1_000'",
        "seed: 1e3 | seed: must be a whole number, but was '1e3'",
        "seed: 99999999999999999999 | seed: must be at most 9223372036854775807, but was",
        "seed: | seed: must be a whole number, but was empty",
        "seed: [1] | seed: must be a whole number, but was a list",
        "log_every: 3000000000 | log_every: must be at most 2147483647, but was '3000000000'",
        "log_every: -3000000000 | log_every: must be a larger whole number, but was '-3000000000'",
        "<<: {seed: 1} | <<: merging is no part of YAML 1.2 and is not done (write the keys out",
        "log_every: 0 | log_every: must be at least 1, but was 0",
        "threads: 0 | threads: must be from 1 to 1024, but was 0",
        "epochs: 0 | epochs: must be at least 1, but was 0",
        "max_steps: 0 | max_steps: must be at least 1, but was 0",
        "precision: float23 | precision: must be one of float32, float64, but was 'float23'; did"
            + " you",
        "precision: FLOAT32 | precision: must be one of float32, float64, but was 'FLOAT32'",
        "device: cuda:x | device: must be cpu, cuda, cuda:N or auto, but was 'cuda:x'",
        "device: tpu | device: must be cpu, cuda, cuda:N or auto, but was 'tpu'",
        "clip: {norm: 0} | clip.norm: must be greater than 0, but was 0.0",
        "clip: {norm: .nan} | clip.norm: must be a finite number, but was '.nan'",
        "clip: {norm: .inf} | clip.norm: must be a finite number, but was '.inf'",
        "clip: {norm: 1e999} | clip.norm: must be a finite number, but was '1e999'",
        "clip: {} | clip.norm: is missing; state it, or 'value' instead",
        "clip: {norm: 1, value: 1} | clip.value: cannot stand together with 'norm'",
        "clip: {value: -1} | clip.value: must be greater than 0, but was -1.0",
        "groups: [{match: []}] | groups[0].match: must hold at least one name, and no empty one",
        "groups: [{lr: 1}] | groups[0].match: is missing",
        "layer_decay: 2 | layer_decay: must be in (0, 1], but was 2.0",
        "clip: 5 | clip: must be a mapping, but was '5' (allowed keys: norm, value)",
        "eval: {every: daily} | eval.every: must be epoch, end or a number of updates, but was 'd",
        "eval: {every: 0} | eval.every: must be epoch, end or a number of updates, but was '0'",
        "eval: {evry: end} | eval.evry: unknown key; did you mean 'every'? (allowed: every, batch,"
            + " also)",
        "timeout: soon | timeout: must be a time such as 60, 60s, 500ms, 2m or 1h, but was 'soon'",
        "timeout: 0 | timeout: must be greater than 0, but was 0s",
        "join_timeout: 0 | join_timeout: must be greater than 0, but was 0s",
        "timeout: -1s | timeout: must be a time such as",
        "freeze: conv1.* | freeze: must be a list such as [a, b], but was 'conv1.*'",
        "freeze: [a, [b]] | freeze[1]: must be a text, but was a list",
        "freeze: [' '] | freeze: must not hold an empty name",
        "freeze_statistics: [''] | freeze_statistics: must not hold an empty name",
        "schedule: cosin | schedule: unknown schedule 'cosin'; did you mean 'cosine'? (allowed:"
            + " con",
        "schedule: {warmup_steps: 1} | schedule.name: is missing (allowed: constant, cosine)",
        "schedule: [cosine] | schedule: must be the name of a schedule, but was a list",
        "strategy: {recomputer: {}} | strategy.recomputer: unknown technique 'recomputer'; did you",
        "strategy: recompute | strategy: must be a mapping of names to settings, but was"
            + " 'recompute'",
        "strategy: {gradient_merge: {k_steps: 0}} | strategy.gradient_merge.k_steps: must be at",
        "strategy: {gradient_merge: {avg: yes}} | strategy.gradient_merge.avg: must be true or"
            + " fals",
        "strategy: {gradient_merge: {avg: on}} | strategy.gradient_merge.avg: must be true or"
            + " false",
        "global_batch: 64 | global_batch: cannot stand together with 'batch' (recipe.yaml:3)"
            + " (state",
        "seed: !!int 1 | seed: tags are not allowed: 'tag:yaml.org,2002:int'",
        "seed: !foo 1 | seed: tags are not allowed: '!foo'",
        "seed: !!java.net.URL [a] | seed: tags are not allowed: 'tag:yaml.org,2002:java.net.URL'",
        "seed: !!python/object:os.system {} | seed: tags are not allowed:"
            + " 'tag:yaml.org,2002:python",
        "seed: ! 1 | seed: tags are not allowed: '!'",
        "batch: 32 | batch: is given twice; the first is at recipe.yaml:3",
      })
  void saysWhatIsWrongAndWhere(String line, String expected) {
    String recipe = GOOD + line.replace("'\"", "\"").replace("\"'", "\"");
    assertThat(problems(recipe)).isNotEmpty();
    assertThat(problems(recipe).getFirst()).startsWith("recipe.yaml:5: " + expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lenet5 | lenett | :1: model: unknown model 'lenett'; did you mean 'lenet5'? (allowed: len",
        "lenet5 | resnet50 | :1: model: unknown model 'resnet50' (allowed: lenet5, mlp)",
        "lenet5 | {name: lenet5, classes: 1} | :1: model.classes: must be at least 2, but was 1",
        "lenet5 | {name: lenet5, clases: 1} | :1: model.clases: is not a key of 'lenet5'; did you",
        "digits | {name: digits, path: x} | :2: data.path: is not a key of 'digits' (it has no"
            + " keys",
        "digits | mnist | :2: data.path: is missing (Folder of IDX files.)",
        "digits | {name: mnist, path: ''} | :2: data.path: must be a path, but was the text \"\"",
        "64 | 0 | :3: batch: must be at least 1, but was 0",
        "64 | null | : batch: is missing; state it, or 'global_batch' instead",
        "0.05 | -0.1 | :4: optimizer.lr: must be greater than 0, but was -0.1",
        "lr: | rl: | :4: optimizer.rl: is not a key of 'momentum'; did you mean 'lr'? (allowed: lr",
        "optimizer: | optimizr: | : optimizer: is missing (How gradients move parameters.)",
        "model: | model : : | :1:9: is not YAML: mapping values are not allowed here",
        "model: | @model: | :1:1: is not YAML: found character '@' that cannot start any token",
      })
  void saysWhatIsWrongWithARequiredKey(String good, String bad, String expected) {
    String recipe = GOOD.replace(good, bad.replace("''", "\"\""));
    assertThat(problems(recipe)).isNotEmpty();
    assertThat(problems(recipe).getFirst()).startsWith("recipe.yaml" + expected);
  }

  @Test
  void reportsAllProblemsTogetherInTheOrderOfReading() {
    String recipe =
        """
        modle: lenet5
        data: {name: mnist, path: [a]}
        batch: 0
        optimizer:
          name: adam
          lr: -0.1
          betas: [0.9]
          weight_decay: lots
        seed: !!int 1
        seed: 2
        epochs: 0
        max_steps: 5
        """;
    assertThat(problems(recipe, "eval.every=never", "clip.norm=-1", "nonsense"))
        .containsExactly(
            "recipe.yaml: model: is missing (The model to train.)",
            "recipe.yaml:1: modle: unknown key; did you mean 'model'? (allowed: model, objective,"
                + " data, batch, global_batch, epochs, max_steps, precision, seed, device, threads,"
                + " optimizer, schedule, schedule_per, clip, exchange, batch_norm, ema, eval,"
                + " metrics, stop_when, init_from, checkpoint, tensorboard, prometheus, non_finite,"
                + " compare_every, log_every, timeout, join_timeout, freeze, freeze_statistics,"
                + " no_decay, groups, layer_decay, strategy)",
            "recipe.yaml:2: data.path: must be a path, but was a list",
            "recipe.yaml:3: batch: must be at least 1, but was 0",
            "recipe.yaml:6: optimizer.lr: must be greater than 0, but was -0.1",
            "recipe.yaml:7: optimizer.betas: must be two numbers, but was [0.9]",
            "recipe.yaml:8: optimizer.weight_decay: must be a finite number, but was 'lots'",
            "recipe.yaml:9: seed: tags are not allowed: 'tag:yaml.org,2002:int'",
            "recipe.yaml:10: seed: is given twice; the first is at recipe.yaml:9",
            "recipe.yaml:11: epochs: must be at least 1, but was 0",
            "recipe.yaml:12: max_steps: cannot stand together with 'epochs' (recipe.yaml:11)"
                + " (state one of them)",
            "--set eval.every=never: eval.every: must be epoch, end or a number of updates, but was"
                + " 'never'",
            "--set clip.norm=-1: clip.norm: must be greater than 0, but was -1.0",
            "--set nonsense: must be written key=value, for example --set optimizer.lr=0.1");
  }

  @Test
  void cutsAnEndlessListOfProblems() {
    var recipe = new StringBuilder(GOOD);
    for (int i = 0; i < 500; i++) {
      recipe.append("unknown_").append(i).append(": 1\n");
    }
    assertThat(problems(recipe.toString()))
        .hasSize(101)
        .last()
        .isEqualTo("recipe.yaml:105: and 400 more problems");
  }

  @Test
  void showsNeitherLineBreaksNorTerminalEscapesOfTheRecipe() {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> TestCatalogue.read(GOOD + "precision: \"a\\e[31m\\nb\"\n\"k\\ney\": 1"))
        .withMessageContaining("but was 'a\uFFFD[31m\uFFFDb'")
        .withMessageContaining("k\uFFFDey: unknown key")
        .satisfies(e -> assertThat(e).message().hasLineCount(2));
  }
}
