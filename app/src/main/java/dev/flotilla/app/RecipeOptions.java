package dev.flotilla.app;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Change;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options of every command that reads a recipe. */
final class RecipeOptions {

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "RECIPE",
      description = "YAML file; without one, LeNet-5 learns the embedded digits.")
  @Nullable Path recipe;

  /** A change of the recipe, and the words that ask for it. */
  private record Given(Change change, List<String> words) {}

  /** In the order of the command line, whichever options they came with. */
  private final List<Given> given = new ArrayList<>();

  private int sets;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Changes a value of the recipe, for example --set optimizer.lr=0.1; repeatable.")
  void set(@Nullable List<String> all) {
    // Each time the option is met, picocli hands over all its values so far.
    if (all != null) {
      all.stream().skip(sets).forEach(this::add);
      sets = all.size();
    }
  }

  @Option(
      names = "--max-steps",
      paramLabel = "N",
      description = "Ends after N updates; replaces epochs.")
  void maxSteps(@Nullable String updates) {
    if (updates != null) {
      add(Change.option("--max-steps", "max_steps", updates), "--max-steps", updates);
    }
  }

  @Option(
      names = "--init-from",
      paramLabel = "FILE",
      description =
          "Starts from published weights: a safetensors file, index or folder, or a .pth file.")
  void initFrom(@Nullable Path file) {
    if (file != null) {
      var change = Change.option("--init-from", "init_from.path", quoted(file));
      add(change, "--init-from", file.toAbsolutePath().toString());
    }
  }

  @Option(
      names = "--no-strict",
      description = "With --init-from: loads what fits, and lists what does not.")
  void noStrict(boolean isGiven) {
    if (isGiven) {
      add(Change.option("--no-strict", "init_from.strict", "false"), "--no-strict");
    }
  }

  private void add(String assignment) {
    add(Change.set(assignment), "--set", assignment);
  }

  private void add(Change change, String... words) {
    given.add(new Given(change, List.of(words)));
  }

  /** Puts changes below those of the command line. */
  void setFirst(List<String> assignments) {
    var later = List.copyOf(given);
    given.clear();
    assignments.forEach(this::add);
    given.addAll(later);
  }

  /**
   * Reads the recipe with all changes on top.
   *
   * @param more changes on top of those, each as {@code key=value}
   * @throws dev.flotilla.settings.ConfigException with everything that is wrong
   */
  RunConfig read(String... more) {
    var changes =
        Stream.concat(given.stream().map(Given::change), Stream.of(more).map(Change::set));
    var base =
        recipe == null ? Recipe.parse("default recipe", defaultRecipe()) : Recipe.read(recipe);
    return RunConfig.read(base.overlay(changes.toList()), Catalogue.installed());
  }

  /** Returns the arguments that give another process the same recipe. */
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    if (recipe != null) {
      arguments.add(recipe.toAbsolutePath().toString());
    }
    given.forEach(each -> arguments.addAll(each.words()));
    return arguments;
  }

  private static String quoted(Path path) {
    return "'" + path.toString().replace("'", "''") + "'";
  }

  static String defaultRecipe() {
    return ExampleRecipe.DEFAULT.text();
  }
}
