package dev.flotilla.app;

import dev.flotilla.config.RecipeVerification;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Compares merged micro-batches with one large batch, on the recipe's own model and data. */
@Command(
    name = "verify",
    description = {
      "Shows whether a recipe's merged micro-batches equal one large batch, or why they do not.",
      "Ends with 0 if they are equal to rounding, and with 1 if not."
    },
    footer = {"", "Example:", "  flotilla verify gradient-merge.yaml"},
    mixinStandardHelpOptions = true)
final class VerifyCommand implements Callable<Integer> {

  /** Every window keeps copies of all parameters; a fault shows in the first few. */
  private static final int MOST = 100;

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Option(
      names = "--windows",
      paramLabel = "N",
      description =
          "Number of accumulation windows to compare; from 3 on the end of an epoch is among them.")
  int windows = 3;

  @Option(names = "--json", description = "Prints JSON, and nothing else.")
  boolean json;

  @Override
  public Integer call() {
    if (windows < 1 || windows > MOST) {
      throw new ConfigException(
          "--windows", "must be in 1 to %d, but was %d".formatted(MOST, windows));
    }
    var result = new RecipeVerification(recipe.read()).run(windows);
    System.out.print(
        json ? Json.pretty(VerifyText.json(result)) + "\n" : VerifyText.report(result));
    return result.isEqual() ? ExitCodes.OK : ExitCodes.FAILED;
  }
}
