package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.Strategy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The recipes that come with the command line. */
class ExampleRecipesTests {

  @TempDir Path folder;

  private static RunConfig read(ExampleRecipe recipe) {
    return RunConfig.read(Recipe.parse(recipe.name(), recipe.text()), Catalogue.installed());
  }

  @TestFactory
  Stream<DynamicTest> eachPlansWithoutErrorForOneRankAndForTwo() {
    return ExampleRecipe.ALL.stream()
        .map(
            recipe ->
                dynamicTest(
                    recipe.name(),
                    () -> {
                      var config = read(recipe);
                      for (int ranks : List.of(1, 2)) {
                        var run = new ConfiguredRun(config, PlanCommand.worldOf(ranks));
                        assertThatCode(run::plan).doesNotThrowAnyException();
                      }
                      assertThat(recipe.command())
                          .matches("flotilla (train|run --nproc 2) .*")
                          .contains(recipe.name() + ".yaml");
                      assertThat(recipe.title()).hasSizeBetween(20, 78);
                    }));
  }

  /** Techniques by their names, and those that are values of other keys. */
  @Test
  void everyTechniqueHasOne() {
    var shown =
        ExampleRecipe.ALL.stream()
            .flatMap(recipe -> read(recipe).techniques().stream())
            .map(Object::getClass)
            .toList();
    assertThat(shown)
        .hasSizeGreaterThan(10)
        .containsAll(Catalogue.installed().types(Strategy.class).values());
    var keys =
        ExampleRecipe.ALL.stream()
            .flatMap(recipe -> read(recipe).techniques().stream())
            .map(Strategy::key);
    assertThat(keys).contains("clip", "exchange", "batch_norm", "ema");
  }

  @Test
  void noFileIsForgotten() throws IOException {
    try (var files = Files.list(Path.of("src/main/resources/dev/flotilla/app/recipes"))) {
      assertThat(files.map(file -> file.getFileName().toString().replace(".yaml", "")))
          .containsExactlyInAnyOrderElementsOf(
              ExampleRecipe.ALL.stream().map(ExampleRecipe::name).toList());
    }
  }

  @Test
  void theDocumentedListIsTheCurrentOne() throws IOException {
    var page = Files.readString(Path.of("..", "docs", "observability.md"));
    assertThat(page).contains("$ ./flotilla examples\n" + ExamplesCommand.list());
  }

  private static int copy(String name, Path to) {
    var command = new ExamplesCommand();
    command.name = name;
    command.to = to;
    return command.call();
  }

  @Test
  void copiesOneAndOverwritesNothing() throws IOException {
    var file = folder.resolve("mine.yaml");
    assertThat(copy("gradient_merge", file)).isZero();
    assertThat(file).hasContent(new ExampleRecipe("gradient-merge").text());

    assertThatThrownBy(() -> copy("dgc", file))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "--to: %s exists already; give another file with --to, or remove it first"
                .formatted(file));
    assertThat(file).hasContent(new ExampleRecipe("gradient-merge").text());
    assertThat(copy("dgc", folder)).isZero();
    assertThat(folder.resolve("dgc.yaml")).hasContent(new ExampleRecipe("dgc").text());
  }

  @Test
  void namesTheNearestOfTheRecipesThereAre() {
    assertThatThrownBy(() -> copy("shardin", folder.resolve("x")))
        .hasMessageContaining(
            "there is no recipe 'shardin'; did you mean 'sharding'?; there are digits, ");
    assertThatThrownBy(() -> copy("dgc", folder.resolve("none/x.yaml")))
        .hasMessageContaining("there is no folder for ");
  }
}
