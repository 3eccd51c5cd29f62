package dev.flotilla.app;

import dev.flotilla.app.cluster.JobShape;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.world.ExitCodes;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of commands that write a recipe down for the scheduler of a cluster. */
final class ClusterOptions {

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Option(names = "--nnodes", paramLabel = "N", description = "Number of hosts; 1.")
  int hosts = 1;

  @Option(
      names = {"--nproc", "--nproc-per-node"},
      paramLabel = "N",
      description = "Ranks on each host; 2.")
  int ranks = 2;

  @Option(names = "--cpus-per-rank", paramLabel = "N", description = "Cores of each rank; 1.")
  int cpus = 1;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Name of the job; by default that of the model.")
  @Nullable String name;

  @Option(
      names = "--stop-grace-period",
      paramLabel = "SECONDS",
      description = "How long ranks may take to save when the job is stopped; 60.")
  int grace = 60;

  @Option(
      names = "--max-restarts",
      paramLabel = "N",
      description = "How often all ranks start again after a failure; 3.")
  int maxRestarts = 3;

  /** Prints what is written for the job; nothing if so many ranks cannot train the recipe. */
  int print(Function<JobShape, String> writer) {
    System.out.print(writer.apply(check()));
    return ExitCodes.OK;
  }

  /** Checks the recipe for so many ranks, as a run would, and returns how large the job is. */
  private JobShape check() {
    var config = recipe.read();
    var shape =
        new JobShape(
            name == null ? plain(config.model().name()) : name,
            hosts,
            ranks,
            cpus,
            grace,
            maxRestarts);
    var _ = new ConfiguredRun(config, PlanCommand.worldOf(shape.worldSize())).plan();
    return shape;
  }

  private static String plain(String model) {
    return model.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^-+|-+$", "");
  }
}
