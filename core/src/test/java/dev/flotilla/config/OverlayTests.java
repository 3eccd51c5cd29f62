package dev.flotilla.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.train.Every;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class OverlayTests {

  private static final String RECIPE =
      """
      model: lenet5
      data: digits
      global_batch: 64
      epochs: 8
      optimizer:
        name: momentum
        momentum: 0.8
      strategy:
      """;

  private static RunConfig with(String... sets) {
    return TestCatalogue.read(RECIPE, sets);
  }

  private static void refuses(String message, String... sets) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> with(sets))
        .withMessage(message);
  }

  @Test
  void readsValuesInFlowNotation() {
    var config =
        with(
            "optimizer={name: adam, betas: [0.5, 0.6]}",
            "schedule=cosine",
            "eval.every=100",
            "strategy.gradient_merge.k_steps=4",
            "freeze=[conv1.*, \"fc.bias\"]");
    assertThat(config.optimizer())
        .isEqualTo(new TestCatalogue.Adam(0.001, List.of(0.5, 0.6), 1e-8, 0));
    assertThat(config.schedule()).isEqualTo(new TestCatalogue.Cosine(0, 0));
    assertThat(config.eval().every()).isEqualTo(new Every.Updates(100));
    assertThat(config.strategy()).containsExactly(new TestCatalogue.GradientMerge(4, true));
    assertThat(config.freeze()).containsExactly("conv1.*", "fc.bias");
  }

  @Test
  void appliesLaterOptionsOverEarlierOnes() {
    assertThat(with("seed=1", "seed=2").seed()).isEqualTo(2);
    assertThat(with("batch=8", "global_batch=9").globalBatch()).isEqualTo(9);
    assertThat(with("batch=8", "global_batch=9").batch()).isNull();
  }

  @Test
  void takesAwayTheAlternativeOfEarlierLayers() {
    assertThat(with("batch=8").globalBatch()).isNull();
    assertThat(with("batch=8").batch()).isEqualTo(8);
    assertThat(with("max_steps=8").epochs()).isNull();
    assertThat(with("max_steps=null").epochs()).isEqualTo(8);
  }

  @Test
  void keepsAnErrorOfTheRecipeThatAnOptionWouldHide() {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> TestCatalogue.read(RECIPE + "batch: 8", "batch=16"))
        .withMessage(
            "recipe.yaml:9: batch: cannot stand together with 'global_batch' (recipe.yaml:3)"
                + " (state one of them)");
  }

  @Test
  void replacesAMappingByABareName() {
    assertThat(with("optimizer=adam").optimizer()).isInstanceOf(TestCatalogue.Adam.class);
  }

  @Test
  void opensABareNameForItsKeys() {
    assertThat(with("model.classes=7").model()).isEqualTo(new TestCatalogue.Lenet(7));
  }

  @Test
  void tellsThatKeysOfTheFormerNameAreLeft() {
    refuses(
        "recipe.yaml:7: optimizer.momentum: is not a key of 'adam' (the name was changed by --set"
            + " optimizer.name=adam; allowed: lr, betas, eps, weight_decay)",
        "optimizer.name=adam");
  }

  @Test
  void switchesTechniquesOnAndOff() {
    assertThat(with("strategy.recompute=true").strategy())
        .containsExactly(new TestCatalogue.Recompute());
    assertThat(with("strategy.recompute=").strategy())
        .containsExactly(new TestCatalogue.Recompute());
    assertThat(with("strategy.recompute={}", "strategy.recompute=false").strategy()).isEmpty();
    assertThat(with("strategy.recompute=True", "strategy.recompute=False").strategy()).isEmpty();
  }

  @Test
  void takesATechniqueAwayByNullLikeAnyOtherValue() {
    assertThat(with("strategy.recompute=null").strategy()).isEmpty();
    assertThat(with("strategy.recompute={}", "strategy.recompute=~").strategy()).isEmpty();
    assertThat(with("strategy.recompute=null", "strategy.recompute={}").strategy())
        .containsExactly(new TestCatalogue.Recompute());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "seed | must be written key=value, for example --set optimizer.lr=0.1",
        "=1 | must be written key=value, for example --set optimizer.lr=0.1",
        "a..b=1 | must be written key=value, for example --set optimizer.lr=0.1",
        ".a=1 | must be written key=value, for example --set optimizer.lr=0.1",
        "epochs.x=1 | epochs: is '8' (recipe.yaml:4), so it has no key 'x'",
        "optimizer.momentum.x=1 | optimizer.momentum: is '0.8' (recipe.yaml:7), so it has no key"
            + " 'x'",
        "seed=[1 | the value is not YAML: expected ',' or ']', but got <stream end>",
        "seed=!!int 5 | tags are not allowed: 'tag:yaml.org,2002:int'",
        "seed={a: 1, a: 2} | a: is given twice; the first is at --set seed={a: 1, a: 2}",
        "optimizer.lr=-1 | optimizer.lr: must be greater than 0, but was -1.0",
        "seed=yes | seed: must be a whole number, but was 'yes'",
      })
  void namesTheOptionThatIsWrong(String set, String message) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> with(set))
        .satisfies(
            e ->
                assertThat(e.problems().getFirst().toString())
                    .isEqualTo("--set " + set + ": " + message));
  }

  @Test
  void refusesAPathWithoutEnd() {
    refuses(
        "--set "
            + "a.".repeat(30)
            + "…: must be written key=value, for example --set"
            + " optimizer.lr=0.1",
        "a.".repeat(100_000) + "b=1");
  }

  @Test
  void namesAnOptionOfItsOwn() {
    var recipe =
        Recipe.parse("recipe.yaml", RECIPE)
            .overlay(List.of(Change.option("--max-steps", "max_steps", "0")));
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(() -> RunConfig.read(recipe, TestCatalogue.catalogue()))
        .withMessage("--max-steps: max_steps: must be at least 1, but was 0");
  }
}
