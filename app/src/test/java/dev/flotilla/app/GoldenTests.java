package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * What earlier versions have written is read for good: a folder {@code golden/VERSION} has the
 * folder of a run, with its scores in the summary, its recipe, and other recipes.
 */
class GoldenTests {

  @TempDir Path folder;

  private static List<Path> versions() throws IOException, URISyntaxException {
    var golden = Path.of(Objects.requireNonNull(GoldenTests.class.getResource("golden")).toURI());
    return list(golden);
  }

  private static List<Path> list(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }

  @TestFactory
  Stream<DynamicTest> recipesPlanAsTheyAre() throws IOException, URISyntaxException {
    return versions().stream()
        .flatMap(version -> recipes(version).stream())
        .map(recipe -> dynamicTest(recipe.getFileName().toString(), () -> plan(recipe)));
  }

  private static List<Path> recipes(Path version) {
    try {
      return list(version.resolve("recipes"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void plan(Path recipe) throws IOException {
    var text = Files.readString(recipe);
    var config = RunConfig.read(Recipe.parse(recipe.toString(), text), Catalogue.installed());
    for (int ranks : List.of(1, 2)) {
      var run = new ConfiguredRun(config, PlanCommand.worldOf(ranks));
      assertThatCode(run::plan).doesNotThrowAnyException();
    }
  }

  @TestFactory
  Stream<DynamicTest> aRunIsScoredGoesOnAndGivesItsWeights()
      throws IOException, URISyntaxException {
    return versions().stream()
        .map(version -> dynamicTest(version.getFileName().toString(), () -> use(version)));
  }

  private void use(Path version) throws IOException {
    var flotilla = Flotilla.in(folder.resolve(version.getFileName().toString()));
    copy(version.resolve("run"), flotilla.work().resolve("run"));
    var summary = RunFiles.json(Files.readString(version.resolve("run/summary.json")));
    assertScore(flotilla, "live", summary.get("loss").asDouble());
    assertScore(flotilla, "ema", summary.get("metrics").get("ema/loss").asDouble());
    Files.copy(version.resolve("recipe.yaml"), flotilla.work().resolve("recipe.yaml"));
    var resumed =
        flotilla.run("train", "recipe.yaml", "--resume=run", "--max-steps=62", "--out=more");
    assertThat(resumed.expect(0).out() + resumed.err()).contains("resumed after update 60");
    var start = "--set=init_from={path: run/model.safetensors}";
    flotilla.run("train", "recipe.yaml", start, "--max-steps=1", "--out=anew").expect(0);
  }

  private static void assertScore(Flotilla flotilla, String weights, double loss) {
    var score = flotilla.run("eval", "--checkpoint=run", "--weights=" + weights, "--json");
    var scored = RunFiles.json(score.expect(0).out());
    // Other processors add in another order.
    assertThat(scored.get("loss").asDouble()).isCloseTo(loss, within(1e-3));
  }

  private static void copy(Path from, Path to) throws IOException {
    try (var files = Files.walk(from)) {
      for (var file : files.toList()) {
        var copy = to.resolve(from.relativize(file).toString());
        Files.createDirectories(Objects.requireNonNull(copy.getParent()));
        if (!Files.isDirectory(file)) {
          Files.copy(file, copy);
        }
      }
    }
  }
}
