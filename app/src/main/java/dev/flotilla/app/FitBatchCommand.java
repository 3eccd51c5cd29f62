package dev.flotilla.app;

import dev.flotilla.config.BatchFit;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.ExitCodes;
import dev.flotilla.world.World;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Finds the largest micro-batch of a recipe that fits into memory. */
@Command(
    name = "fit-batch",
    description = {
      "Finds the largest micro-batch of a recipe that fits into memory, by trying.",
      "Its learning rate, schedule and data order play no part; nothing is written."
    },
    footer = {"", "Example:", "  flotilla fit-batch recompute.yaml"},
    mixinStandardHelpOptions = true)
final class FitBatchCommand implements Callable<Integer> {

  private static final double GIB = 1L << 30;

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Option(
      names = {"--nproc", "--nproc-per-node"},
      paramLabel = "N",
      description = "Ranks that the run will have; they count where the recipe shards its state.")
  int ranks = 1;

  @Option(
      names = "--memory",
      paramLabel = "SIZE",
      description = "What the run may take, for example 32GiB; by default all that is free.")
  @Nullable String memory;

  @Option(
      names = "--table",
      description = {
        "Compares the recipe's other techniques alone, with recompute, with mixed precision"
            + " (bf16),",
        "and with both."
      })
  boolean table;

  @Override
  public Integer call() {
    if (ranks < 1) {
      throw new ConfigException("--nproc", "must be at least 1, but was " + ranks);
    }
    var config = recipe.read();
    new ConfiguredRun(config, PlanCommand.worldOf(ranks)).plan();
    var run = new ConfiguredRun(config, World.solo());
    var limit = limit();
    var fit = new BatchFit(run, ranks, limit, trial -> System.err.println("  " + text(trial)));
    for (var row : rows(run).entrySet()) {
      System.err.println(row.getKey() + ":");
      print(row.getKey(), fit.with(row.getValue()));
    }
    return ExitCodes.OK;
  }

  private @Nullable ByteSize limit() {
    try {
      return memory == null ? null : ByteSize.parse(memory);
    } catch (ConfigException wrong) {
      throw new ConfigException("--memory", wrong.problems().getFirst().message());
    }
  }

  private Map<String, List<Strategy>> rows(ConfiguredRun run) {
    Map<String, List<Strategy>> rows = new LinkedHashMap<>();
    if (!table) {
      rows.put("recipe", run.config().techniques());
      return rows;
    }
    List<Strategy> others = new ArrayList<>(run.config().techniques());
    others.removeIf(it -> it instanceof Recompute || it instanceof MixedPrecision);
    var recompute = Recompute.every(1);
    var half = new MixedPrecision(Dtype.BF16);
    rows.put("baseline", others);
    rows.put("recompute", with(others, recompute));
    rows.put("amp", with(others, half));
    rows.put("recompute + amp", with(others, recompute, half));
    return rows;
  }

  private static List<Strategy> with(List<Strategy> others, Strategy... more) {
    List<Strategy> all = new ArrayList<>(others);
    all.addAll(List.of(more));
    return all;
  }

  private static String text(BatchFit.Trial trial) {
    return trial.fits()
        ? String.format(Locale.ROOT, "batch %d: %.2f GiB", trial.batch(), trial.peakBytes() / GIB)
        : "batch %d: does not fit".formatted(trial.batch());
  }

  private static void print(String name, BatchFit.Result result) {
    var best = result.best();
    System.out.printf(
        Locale.ROOT,
        "%-16s batch %5d  %8.1f samples/s  peak %6.2f GiB of %.2f  %d trials%n",
        name,
        best.batch(),
        best.samplesPerSecond(),
        best.peakBytes() / GIB,
        result.limitBytes() / GIB,
        result.trials().size());
  }
}
