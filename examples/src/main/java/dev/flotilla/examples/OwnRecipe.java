package dev.flotilla.examples;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.RunConfig;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.Map;

/** The baseline with everything in a recipe: {@code RECIPE [--set key=value]… [--out DIR]}. */
public final class OwnRecipe {

  private OwnRecipe() {}

  /** Prints the accuracy; what is wrong with the recipe is printed without a stack trace. */
  public static void main(String[] args) {
    try {
      System.out.println("accuracy " + run(args).get("accuracy"));
    } catch (ConfigException mistake) {
      System.err.println(mistake.getMessage());
      System.exit(ExitCodes.USAGE);
    }
  }

  static Map<String, Object> run(String... args) {
    var arguments = RunConfig.fromArgs(args);
    var run = new ConfiguredRun(arguments.config(), World.join());
    return run.run(arguments.out().orElse(Path.of("runs", "own-recipe")), _ -> {});
  }
}
