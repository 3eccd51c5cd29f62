package dev.flotilla.app;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.Change;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Changes a value of the recipe, for example --set optimizer.lr=0.1; repeatable.")
  List<String> sets = new ArrayList<>();

  @Option(
      names = "--max-steps",
      paramLabel = "N",
      description = "Ends after N updates; replaces epochs.")
  @Nullable String maxSteps;

  @Option(
      names = "--init-from",
      paramLabel = "FILE",
      description =
          "Starts from published weights: a safetensors file, index or folder, or a .pth file.")
  @Nullable Path initFrom;

  @Option(
      names = "--no-strict",
      description = "With --init-from: loads what fits, and lists what does not.")
  boolean noStrict;

  /**
   * Reads the recipe with all changes on top.
   *
   * @throws dev.flotilla.settings.ConfigException with everything that is wrong
   */
  RunConfig read() {
    List<Change> changes = new ArrayList<>(sets.stream().map(Change::set).toList());
    if (maxSteps != null) {
      changes.add(Change.option("--max-steps", "max_steps", maxSteps));
    }
    if (initFrom != null) {
      changes.add(Change.option("--init-from", "init_from.path", quoted(initFrom)));
    }
    if (noStrict) {
      changes.add(Change.option("--no-strict", "init_from.strict", "false"));
    }
    var base =
        recipe == null ? Recipe.parse("default recipe", defaultRecipe()) : Recipe.read(recipe);
    return RunConfig.read(base.overlay(changes), Catalogue.installed());
  }

  /** Returns the arguments that give another process the same recipe. */
  List<String> arguments() {
    List<String> arguments = new ArrayList<>();
    if (recipe != null) {
      arguments.add(recipe.toAbsolutePath().toString());
    }
    sets.forEach(set -> arguments.addAll(List.of("--set", set)));
    if (maxSteps != null) {
      arguments.addAll(List.of("--max-steps", maxSteps));
    }
    if (initFrom != null) {
      arguments.addAll(List.of("--init-from", initFrom.toAbsolutePath().toString()));
    }
    if (noStrict) {
      arguments.add("--no-strict");
    }
    return arguments;
  }

  private static String quoted(Path path) {
    return "'" + path.toString().replace("'", "''") + "'";
  }

  static String defaultRecipe() {
    try (var stream = RecipeOptions.class.getResourceAsStream("default.yaml")) {
      if (stream == null) {
        throw new IllegalStateException("default.yaml is missing from the jar");
      }
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
