package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.app.advise.Combinations;
import dev.flotilla.app.doctor.DoctorText;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code flotilla plan --advise} as users start it. */
class PlanAdviceTests {

  @TempDir Path folder;

  private static void assertRefused(String message, String... options) {
    var command = CommandLine.populateCommand(new PlanCommand(), options);
    assertThatThrownBy(command::call)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void mistakesAreToldBeforeAnythingIsTried() throws IOException {
    var there = Files.writeString(folder.resolve("there.yaml"), "mine");
    var other = Files.writeString(folder.resolve("other.json"), "[1]");
    var alone =
        Files.writeString(
            folder.resolve("alone.json"),
            Json.line(DoctorText.json(List.of(), Optional.empty(), OptionalDouble.empty())));

    assertRefused("--link: must be a number with", "--advise", "--nproc", "2", "--link", "fast");
    assertRefused("--link: several hosts need one", "--advise", "--nnodes", "2");
    assertRefused(
        "--nnodes, --link: has no effect without --advise", "--link", "1gbit", "--nnodes", "2");
    assertRefused("--memory: must be", "--advise", "--memory", "much", "--link", "1gbit");
    assertRefused("--nnodes: must be at least 1", "--advise", "--nnodes", "0");
    assertRefused("is not what flotilla doctor", "--advise", "--link", other.toString());
    assertRefused("has no link in it", "--advise", "--link", alone.toString());
    assertRefused(
        "--write: %s is there already".formatted(there),
        "--advise",
        "--link",
        "1gbit",
        "--write",
        there.toString());
    assertThat(there).hasContent("mine");
  }

  @Test
  void aCombinationReplacesWhatItDecidesAndKeepsTheRest() {
    var recipe = new RecipeOptions();
    recipe.setFirst(
        List.of("strategy={amp: {dtype: bf16}, gradient_merge: {k_steps: 2}}", "batch=32"));
    var trials = new Trials(recipe, 2, 2, 1, folder);
    var merge =
        Combinations.of(2, 5, 32, false).stream()
            .filter(it -> it.name().equals("merge"))
            .findFirst()
            .orElseThrow();

    var config = trials.with(merge);
    assertThat(config.batch()).isEqualTo(8);
    assertThat(config.strategy()).extracting(it -> it.key()).doesNotContain("amp");
    assertThat(trials.changes(merge)).anyMatch(it -> it.contains("\"k_steps\":4"));
  }

  @Test
  @Tag("thorough")
  void theAdvisedRecipeCanBeTrained() {
    var flotilla = Flotilla.in(folder);
    var ended =
        flotilla
            .run(
                Duration.ofMinutes(15), // Fifteen trials, each of which warms up for seconds.
                "plan",
                "--advise",
                "--nproc",
                "2",
                "--link",
                "100mbit",
                "--write",
                "advised.yaml")
            .expect(ExitCodes.OK);

    assertThat(ended.out()).contains("keeps the mathematics", "\n* ", "Recommended: ");
    flotilla.run("plan", "advised.yaml", "--nproc", "2").expect(ExitCodes.OK);
  }
}
