package dev.flotilla.app;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.train.LearningRateRange;
import dev.flotilla.train.LearningRates;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Finds a learning rate for a recipe by trying. */
@Command(
    name = "lr-find",
    description = {
      "Finds a learning rate: trains with one that grows until the loss does too, and writes"
          + " nothing.",
      "Suggests the rate at which the smoothed loss falls fastest.",
      "Where RANK and WORLD_SIZE (or Slurm's, MPI's, Paddle's) are set, joins as that rank."
    },
    footer = {"", "Example:", "  flotilla lr-find digits.yaml --from 1e-5"},
    mixinStandardHelpOptions = true)
final class LrFindCommand implements Callable<Integer> {

  private static final int ROWS = 20;

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Option(names = "--from", paramLabel = "LR", description = "The lowest rate; by default 1e-7.")
  double from = LearningRateRange.defaults().lowest();

  @Option(names = "--to", paramLabel = "LR", description = "The highest rate; by default 10.")
  double to = LearningRateRange.defaults().highest();

  @Option(names = "--updates", paramLabel = "N", description = "Rates to try; by default 100.")
  int updates = LearningRateRange.defaults().updates();

  @Option(names = "--json", description = "Prints JSON, and nothing else.")
  boolean json;

  @Override
  public Integer call() {
    var range = range();
    var world = World.join();
    var run = new ConfiguredRun(recipe.read(), world);
    if (world.isLeader()) {
      run.checkWeights();
    }
    run.plan();
    Unpacking.ensureDone();
    var found = run.findLearningRate(range, event -> note(event, world));
    if (world.isLeader()) {
      System.out.print(json ? Json.pretty(values(found)) + "\n" : text(found));
    }
    return ExitCodes.OK;
  }

  private LearningRateRange range() {
    try {
      return new LearningRateRange(from, to, updates);
    } catch (ConfigException wrong) {
      var problem = wrong.problems().getFirst();
      throw new ConfigException("--" + problem.key(), problem.message());
    }
  }

  private void note(TrainingEvent event, World world) {
    if (!json && world.isLeader() && event instanceof TrainingEvent.Noted(var text)) {
      System.out.println("note: " + text);
    }
  }

  private static String text(LearningRates found) {
    var text = new StringBuilder(format("%10s %12s %12s%n", "lr", "loss", "smoothed"));
    var points = found.points();
    int every = Math.max(1, points.size() / ROWS);
    for (int i = 0; i < points.size(); i++) {
      var point = points.get(i);
      boolean isSuggested = found.suggested().equals(optional(point));
      if (i % every == 0 || i == points.size() - 1 || isSuggested) {
        var mark = isSuggested ? "  <- falls fastest" : "";
        text.append(
            format("%10.3g %12.4g %12.4g%s%n", point.rate(), point.loss(), point.smoothed(), mark));
      }
    }
    return text.append(conclusion(found)).toString();
  }

  private static OptionalDouble optional(LearningRates.Point point) {
    return OptionalDouble.of(point.rate());
  }

  private static String conclusion(LearningRates found) {
    var end = found.hasDiverged() ? "" : "the loss has not diverged up to the highest rate\n";
    if (found.suggested().isEmpty()) {
      return end + "no suggestion: the loss does not fall; try a lower --from, or more --updates\n";
    }
    return end
        + format(
            "suggested: --set optimizer.lr=%.3g (a tenth of the rate with the lowest loss: %.3g)%n",
            found.suggested().getAsDouble(), found.tenthOfLowest().getAsDouble());
  }

  private static Map<String, Object> values(LearningRates found) {
    Map<String, Object> values = new LinkedHashMap<>();
    found.suggested().ifPresent(rate -> values.put("suggested", rate));
    found.tenthOfLowest().ifPresent(rate -> values.put("tenth_of_lowest", rate));
    values.put("diverged", found.hasDiverged());
    values.put("points", found.points().stream().map(LrFindCommand::values).toList());
    return values;
  }

  private static Map<String, Object> values(LearningRates.Point point) {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("lr", point.rate());
    values.put("loss", point.loss());
    values.put("smoothed", point.smoothed());
    return values;
  }

  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
