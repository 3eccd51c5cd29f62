package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

class VerifyTests {

  private static final String RECIPE =
      """
      model: {name: mlp, hidden: [8]}
      data: digits
      batch: 16
      optimizer: {name: momentum, lr: 0.05, momentum: 0.9}
      strategy:
        gradient_merge: {k_steps: 4}
      """;

  @TempDir Path folder;
  private Flotilla flotilla;

  @BeforeEach
  void writeRecipe() throws IOException {
    flotilla = Flotilla.in(folder).having("recipe.yaml", RECIPE);
  }

  @Test
  void mergedBatchesEqualTheLargeBatch() {
    var ended = flotilla.run("verify", "recipe.yaml").expect(0);
    assertThat(ended.out())
        .contains("equal to rounding: every difference in float64 is at most 1e-10")
        .contains("4 micro-batches of 16 samples, epoch 0", ", its end", "epoch 1")
        .containsPattern("fc1\\.weight +\\S+e-1\\d +\\S+e-0\\d ");
    assertThat(ended.err()).isEmpty();
    assertThat(flotilla.files()).containsExactly("work/recipe.yaml");
  }

  @Test
  void aDifferenceEndsWith1AndItsCauseIsInTheJson() {
    var ended =
        flotilla
            .run(
                "verify",
                "recipe.yaml",
                "--json",
                "--windows",
                "2",
                "--set",
                "strategy.gradient_merge.avg=false")
            .expect(1);
    var json = JsonMapper.shared().readTree(ended.out());
    assertThat(json.get("equal").asBoolean()).isFalse();
    assertThat(json.get("windows").size()).isEqualTo(2);
    assertThat(json.get("parameters").size()).isEqualTo(4);
    assertThat(json.get("causes").size()).isEqualTo(1);
    assertThat(json.get("causes").get(0).get("kind").asString()).isEqualTo("sum");
  }

  @Test
  void whatCannotWorkInFloat64IsLeftOutWithANote() {
    var ended =
        flotilla
            .run(
                "verify",
                "recipe.yaml",
                "--windows=2",
                "--set=strategy.amp={dtype: bf16}",
                "--set=strategy.fuse_all_reduce={wire: bf16}")
            .expect(0);
    assertThat(ended.out())
        .contains("amp is left out on both sides", "fuse_all_reduce is left out on both sides");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "k_steps: 4 | k_steps: 1 | --windows=3 | recipe.yaml:6: strategy.gradient_merge.k_steps:"
            + " there is nothing to compare, because an accumulation window of one micro-batch is",
        "strategy: | strategy: {} # | --windows=3 | the recipe does not merge gradients",
        "k_steps | k_step | --windows=3 | k_step: ",
        "k_steps | k_steps | --windows=0 | --windows: must be in 1 to 100, but was 0",
        "batch: 16 | batch: 100000 | --windows=3 | no accumulation window has more than one"
            + " micro-batch",
      })
  void badInputEndsWith2(String sound, String wrong, String option, String message)
      throws IOException {
    var changed = RECIPE.replace(sound, wrong);
    changed = wrong.contains("#") ? changed.replaceFirst("  gradient_merge.*", "") : changed;
    var recipe = Files.writeString(flotilla.work().resolve("recipe.yaml"), changed);
    var ended = Ended.here("verify", recipe.toString(), option).expect(2).explainsItself();
    assertThat(ended.err()).contains(message);
    assertThat(ended.out()).isEmpty();
  }
}
