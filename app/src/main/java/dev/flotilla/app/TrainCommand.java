package dev.flotilla.app;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Resume;
import dev.flotilla.config.RunConfig;
import dev.flotilla.report.EventSink;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.HomePath;
import dev.flotilla.train.RunPaths;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import java.nio.file.Files;
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
    footer = {
      "",
      "Example:",
      "  flotilla train digits.yaml --set optimizer.lr=0.1 --out runs/first"
    },
    mixinStandardHelpOptions = true)
final class TrainCommand implements Callable<Integer> {

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Mixin RunFolderOption out = new RunFolderOption();

  @Option(
      names = "--resume",
      paramLabel = "auto|PATH",
      description = {
        "Goes on from a checkpoint, or from the newest one of a run's folder.",
        "auto: from the newest one in --out, or anew if there is none."
      })
  @Nullable String resume;

  @Option(names = "--launch", hidden = true, description = "Name that restarts share.")
  String launch = "";

  @Option(names = "--restarted", hidden = true, description = "Goes on from what was saved since.")
  boolean restarted;

  @Option(names = "--json", description = "Prints the summary as JSON, and nothing else.")
  boolean json;

  @Option(
      names = "--progress",
      paramLabel = "auto|always|never",
      description = "Whether to draw a live progress line; auto: on a terminal.")
  ProgressMode progress = ProgressMode.AUTO;

  @Option(
      names = {"-q", "--quiet"},
      description = "Prints warnings, notes and errors alone.")
  boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description =
          "Prints the whole configuration, and a line for each logged update, epoch, checkpoint"
              + " and average, with times and memory.")
  boolean verbose;

  /** Returns how much it tells. */
  Detail detail() {
    return Detail.of(quiet, verbose);
  }

  /** Reads the arguments of a command that trains without being called {@code train}. */
  static TrainCommand parse(List<String> arguments) {
    var train = new TrainCommand();
    new CommandLine(train)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .registerConverter(Path.class, HomePath::of)
        .parseArgs(arguments.toArray(String[]::new));
    return train;
  }

  @Override
  public Integer call() {
    var detail = detail();
    var world = World.join();
    var run = new ConfiguredRun(recipe.read(), world);
    if (world.isLeader()) {
      run.checkWeights();
    }
    var plan = run.plan();
    Unpacking.ensureDone(); // before anything is left behind
    var folder = folder(run.config(), world.isLeader());
    if (world.isLeader()) {
      run.requireUsable(folder, resume());
      RunPaths.prepare(folder);
    }
    if (json) {
      var summary = run.run(folder, resume(), _ -> {});
      if (world.isLeader()) {
        System.out.println(Json.pretty(summary));
      }
      return ExitCodes.OK;
    }
    var console = sink(world);
    if (world.isLeader() && detail == Detail.VERBOSE) {
      System.out.print(PlanText.settings(run.config()));
    }
    if (world.isLeader() && detail != Detail.QUIET) {
      System.out.print(PlanText.overview(run, plan, world));
    }
    run.run(folder, resume(), console);
    if (world.isLeader() && detail != Detail.QUIET) {
      System.out.println("run folder: " + folder);
    }
    return ExitCodes.OK;
  }

  /** Returns whether and from where the run goes on. */
  Resume resume() {
    if (resume == null) {
      return new Resume.No();
    }
    return Resume.parse(resume) instanceof Resume.From from
        ? new Resume.From(from.path(), launch, restarted)
        : new Resume.Auto();
  }

  /**
   * Returns the folder of the run: the given one, that of the run that goes on, or a new one.
   *
   * @param isOurs whether to make a new one at once
   * @throws ConfigException if it cannot be known where to go on
   */
  Path folder(RunConfig config, boolean isOurs) {
    if (out.folder != null) {
      return out.folder;
    }
    return switch (resume()) {
      case Resume.From from when Files.exists(RunPaths.eventsIn(from.path())) -> from.path();
      case Resume.Auto _ ->
          throw new ConfigException("--resume", "auto needs the run's folder: add --out DIR");
      default -> RunNames.newFolder(Path.of("runs"), config.model().name(), isOurs);
    };
  }

  private EventSink sink(World world) {
    return world.isLeader()
        ? new Console(System.out, progress.columns(System.getenv()), detail(), Colours.here())
        : new FollowerConsole(System.out, world.rank());
  }
}
