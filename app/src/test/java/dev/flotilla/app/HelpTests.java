package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.config.RecipeSchema;
import dev.flotilla.config.RunConfig;
import dev.flotilla.launch.LaunchFlags;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the command line answers to whoever does not know it yet. */
@Tag("quick")
@Isolated
class HelpTests {

  @Test
  void theHelpOfRunListsItsOptionsAndThoseOfARecipe() {
    String help =
        Objects.requireNonNull(Main.commandLine().getSubcommands().get("run")).getUsageMessage();

    assertThat(help)
        .contains(
            "--set KEY=VALUE", "--out DIR", "--resume auto|PATH", "--init-from FILE", "--json");
    assertThat(LaunchFlags.described())
        .allSatisfy(option -> assertThat(help).contains("  " + option.names()));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--help | --help",
        "--nproc 2 --help | --help",
        "--nproc 2 recipe.yaml -h | -h",
        "--version | --version",
        "--nproc 2 recipe.yaml | ''",
        "--nproc 2 recipe.yaml -- --help | ''",
        "--main Program -cp jars --help | ''",
        "--main=Program words --help | ''",
      })
  void helpIsAskedForAnywhereButByProgramsOfTheUsers(String arguments, String word) {
    assertThat(RunHelp.wordIn(List.of(arguments.split(" "))).orElse("")).isEqualTo(word);
  }

  @Test
  void listsTheSegmentsOfAModel() {
    var before = System.out;
    var bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    try {
      assertThat(Main.run("models", "lenet5")).isZero();
    } finally {
      System.setOut(before);
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .startsWith("lenet5  61,706 parameters")
        .containsPattern("  segments\n    conv1 +156 parameters\n    conv2 ")
        .doesNotContain("resnet");
  }

  @Test
  void knowsHelpAsACommand() {
    assertThat(Main.commandLine().getSubcommands()).containsKey("help");
  }

  @Test
  void keysOfOtherProgramsAreUnderstoodAsOptionsToo() {
    assertThat(RecipeSchema.keyMeantBy("batch_size")).contains("batch");
    assertThat(RecipeSchema.keyMeantBy("lr")).contains("optimizer.lr");
    assertThat(RecipeSchema.keyMeantBy("epoch")).contains("epochs");
    assertThat(RecipeSchema.keyMeantBy("quickly")).isEmpty();
  }

  @Test
  void putsTheHomeFolderInPlaceOfATilde() {
    var home = Path.of(System.getProperty("user.home"));
    var options =
        TrainCommand.parse(
            List.of("--out=~/runs/a", "--init-from=~/w", "--set", "checkpoint.dir=~/c"));

    assertThat(options.out.folder).isEqualTo(home.resolve("runs/a"));
    var config = options.recipe.read();
    assertThat(config.initFrom().path()).isEqualTo(home.resolve("w"));
    assertThat(config.resolved().get("checkpoint"))
        .hasToString(
            "{every=epoch, keep=3, dir=%s/c, async=true, on_error=continue}".formatted(home));
    assertThat(read("init_from.path=~x/w").initFrom().path()).hasToString("~x/w");
  }

  private static RunConfig read(String set) {
    return TrainCommand.parse(List.of("--set", set)).recipe.read();
  }

  @Test
  void refusesNoStrictWhereNothingIsLoaded() {
    assertThatThrownBy(() -> TrainCommand.parse(List.of("--no-strict")).recipe.read())
        .hasMessage(
            "--no-strict: init_from.strict: has no effect without weights to start from; name them"
                + " with init_from.path");
  }

  @Test
  void namesTheUsualKeyWhereATechniqueNeedsOneOfTwo() {
    assertThatThrownBy(() -> read("strategy.gradient_merge=true"))
        .hasMessage(
            "--set strategy.gradient_merge=true: strategy.gradient_merge.k_steps: is missing; state"
                + " it, or 'global_batch' instead");
  }

  @Test
  void namesTheNearestCommand() {
    var line = Main.commandLine();
    var err = new StringWriter();
    line.setErr(new PrintWriter(err, true));
    assertThat(line.execute("trian")).isEqualTo(2);
    assertThat(err)
        .hasToString(
            "flotilla: unknown command 'trian'; did you mean 'flotilla train'?%nflotilla --help lists the commands.%n"
                .formatted());
  }
}
