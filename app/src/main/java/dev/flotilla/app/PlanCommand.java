package dev.flotilla.app;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Prints what a recipe would do; starts nothing and loads no native code. */
@Command(
    name = "plan",
    description = "Prints the resolved pipeline of a recipe, its conflicts and warnings.",
    footer = {"", "Example:", "  flotilla plan sharding.yaml --nproc 4"},
    mixinStandardHelpOptions = true)
final class PlanCommand implements Callable<Integer> {

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Option(
      names = {"--nproc", "--nproc-per-node"},
      paramLabel = "N",
      description = "Number of ranks to plan for.")
  int ranks = 1;

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints warnings and errors alone, as a check of a recipe.")
  boolean quiet;

  @Override
  public Integer call() {
    if (ranks < 1) {
      throw new ConfigException("--nproc", "must be at least 1, but was " + ranks);
    }
    var world = worldOf(ranks);
    var run = new ConfiguredRun(recipe.read(), world);
    run.checkWeights();
    var plan = run.plan();
    if (!quiet) {
      System.out.print(PlanText.settings(run.config()));
      System.out.print(PlanText.overview(run, plan, world));
      System.out.print(ranks > 1 ? MemoryText.byStage(run) : "");
    }
    System.out.print(PlanText.warnings(plan));
    return ExitCodes.OK;
  }

  static World worldOf(int ranks) {
    return ranks == 1
        ? World.solo()
        : new World(0, ranks, 0, ranks, 0, 1, new Rendezvous.SharedFile(Path.of("unused")));
  }
}
