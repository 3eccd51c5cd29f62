package dev.flotilla.app;

import dev.flotilla.config.RecipeSchema;
import dev.flotilla.world.ExitCodes;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** Prints the JSON Schema of recipes, for editors. */
@Command(
    name = "schema",
    description = "Prints the JSON Schema of recipes, for editors.",
    footer = {"", "Example:", "  flotilla schema > recipe.schema.json"},
    mixinStandardHelpOptions = true)
final class SchemaCommand implements Callable<Integer> {

  @Override
  public Integer call() {
    System.out.print(RecipeSchema.json());
    return ExitCodes.OK;
  }
}
