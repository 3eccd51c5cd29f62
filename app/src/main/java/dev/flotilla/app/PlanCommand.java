package dev.flotilla.app;

import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Prints what a recipe would do; starts nothing and loads no native code. */
@Command(
    name = "plan",
    description = "Prints the resolved pipeline of a recipe, its conflicts and warnings.",
    footer = {
      "",
      "Example: what suits a recipe on two hosts at 100 Mbit/s, and a recipe for it",
      "  flotilla plan my.yaml --advise --nnodes 2 --link 100mbit --write new.yaml"
    },
    mixinStandardHelpOptions = true)
final class PlanCommand implements Callable<Integer> {

  private static final List<String> OF_ADVICE =
      List.of(
          "--nnodes",
          "--memory",
          "--link",
          "--latency",
          "--step-time",
          "--allow-approximate",
          "--write");

  @Spec CommandSpec spec = CommandSpec.create();

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

  @Option(
      names = "--advise",
      description = {
        "Tries combinations of techniques for a few updates each, predicts their memory and time"
            + " per sample over the link, and recommends the fastest that fits."
      })
  boolean advises;

  @Option(
      names = "--nnodes",
      paramLabel = "N",
      description = "With --advise: hosts, with --nproc ranks on each; 1.")
  int nodes = 1;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "With --advise: what a rank may take, such as 8GiB; by default what is free.")
  @Nullable String memory;

  @Option(
      names = "--link",
      paramLabel = "RATE|FILE",
      description = {
        "With --advise: rate of the slowest link, such as 100mbit, or what flotilla doctor --json"
            + " wrote; by default measured between ranks of this host."
      })
  @Nullable String link;

  @Option(
      names = "--latency",
      paramLabel = "TIME",
      description = "With --link RATE: time of a short message one way; 0.1ms.")
  String latency = "0.1ms";

  @Option(
      names = "--step-time",
      paramLabel = "TIME",
      description =
          "With --advise: an update without techniques on the machine that will train, such as"
              + " 250ms; by default measured here.")
  @Nullable String stepTime;

  @Option(
      names = "--allow-approximate",
      description = "With --advise: recommends techniques that change the mathematics too.")
  boolean allowsApproximate;

  @Option(
      names = "--write",
      paramLabel = "FILE",
      description =
          "With --advise: writes the recommended recipe, to a file that is not there yet.")
  @Nullable Path write;

  @Override
  public Integer call() {
    if (ranks < 1 || nodes < 1) {
      throw new ConfigException(
          ranks < 1 ? "--nproc" : "--nnodes",
          "must be at least 1, but was " + Math.min(ranks, nodes));
    }
    if (!advises) {
      refuseWhatOnlyAdviceTakes();
    } else {
      var wishes =
          new PlanAdvice.Wishes(
              ranks, nodes, memory, link, latency, stepTime, allowsApproximate, write);
      new PlanAdvice(recipe, wishes).give();
      return ExitCodes.OK;
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

  private void refuseWhatOnlyAdviceTakes() {
    var given = spec.commandLine().getParseResult();
    var idle = OF_ADVICE.stream().filter(given::hasMatchedOption).toList();
    if (!idle.isEmpty()) {
      throw new ConfigException(
          String.join(", ", idle), "has no effect without --advise: add that, or leave it out");
    }
  }

  static World worldOf(int ranks) {
    return ranks == 1
        ? World.solo()
        : new World(0, ranks, 0, ranks, 0, 1, new Rendezvous.SharedFile(Path.of("unused")));
  }
}
