package dev.flotilla.app;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.report.EventSink;
import dev.flotilla.train.RunFolder;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Trains in this process; as one rank of several where the environment says so. */
@Command(
    name = "train",
    description = {
      "Trains a recipe in this process.",
      "Where RANK and WORLD_SIZE (or Slurm's, MPI's, Paddle's) are set, joins as that rank."
    },
    mixinStandardHelpOptions = true)
final class TrainCommand implements Callable<Integer> {

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description = "Folder of the run; by default runs/TIME_MODEL.")
  @Nullable Path out;

  @Option(names = "--json", description = "Prints the summary as JSON, and nothing else.")
  boolean json;

  @Option(
      names = "--progress",
      paramLabel = "auto|always|never",
      description = "Whether to draw a live progress line; auto: on a terminal.")
  ProgressMode progress = ProgressMode.AUTO;

  /** Reads the arguments of a command that trains without being called {@code train}. */
  static TrainCommand parse(List<String> arguments) {
    var train = new TrainCommand();
    new CommandLine(train)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .parseArgs(arguments.toArray(String[]::new));
    return train;
  }

  @Override
  public Integer call() {
    var world = World.join();
    var run = new ConfiguredRun(recipe.read(), world);
    var plan = run.plan();
    var folder = out == null ? RunNames.newFolder(run.config().model().name()) : out;
    if (world.isLeader()) {
      RunFolder.refuseIfUsed(folder);
      RunFolder.prepare(folder);
    }
    if (json) {
      var summary = run.run(folder, _ -> {});
      if (world.isLeader()) {
        System.out.println(Json.pretty(summary));
      }
      return ExitCodes.OK;
    }
    var console = sink(world);
    if (world.isLeader()) {
      System.out.print(PlanText.overview(run.config(), plan, world.size()));
    }
    run.run(folder, console);
    if (world.isLeader()) {
      System.out.println("run folder: " + folder);
    }
    return ExitCodes.OK;
  }

  private EventSink sink(World world) {
    return world.isLeader()
        ? new Console(System.out, progress.columns(System.getenv()))
        : new FollowerConsole(System.out, world.rank());
  }
}
