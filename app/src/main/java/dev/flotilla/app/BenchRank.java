package dev.flotilla.app;

import dev.flotilla.collective.Traffic;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * One rank of a benchmark: trains all variants side by side, a step of each in turn, so that
 * whatever else the machine does meets all of them alike.
 */
@Command(name = "bench-rank")
public final class BenchRank implements Callable<Integer> {

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Option(names = "--technique", required = true)
  List<String> techniques = new ArrayList<>();

  @Option(names = "--rounds", required = true)
  int rounds;

  @Option(names = "--steps", required = true)
  int steps;

  @Option(names = "--rank", required = true)
  int rank;

  @Option(names = "--ranks", required = true)
  int ranks;

  /** Where the ranks of the first variant meet; each further one meets at the next port. */
  @Option(names = "--master")
  @Nullable String master;

  @Option(names = "--port", required = true)
  int port;

  @Option(names = "--folder", required = true)
  Path folder = Path.of("");

  /** Runs a rank with the options that {@code flotilla bench network} gives it. */
  public static void main(String[] args) {
    CommandLine.populateCommand(new BenchRank(), args).call();
  }

  /** A variant under way. */
  private record Running(BenchVariant variant, Trainer trainer, Batch batch, List<Double> times) {}

  @Override
  public Integer call() {
    List<Running> all = new ArrayList<>();
    try (var _ = TensorScope.open()) {
      try {
        for (var text : techniques) {
          all.add(start(BenchVariant.parse(text), all.size()));
        }
        measure(all);
        if (rank == 0) {
          write(all);
        }
      } finally {
        all.forEach(running -> running.trainer().close());
      }
    }
    return 0;
  }

  private Running start(BenchVariant variant, int number) {
    boolean isAlone = variant.name().equals(BenchVariant.ALONE.name());
    var world = isAlone ? World.solo() : world(number);
    var run = new ConfiguredRun(recipe.read(variant.change()), world);
    var trainer = run.trainer(_ -> {}).nonFinite(NonFinite.STOP).compareNever().build();
    trainer.plannedUpdates(steps(variant));
    var batch = run.source().epoch(0, world.rank(), world.size()).load(0);
    return new Running(variant, trainer, batch, new ArrayList<>());
  }

  private World world(int number) {
    var meeting =
        master == null
            ? new Rendezvous.SharedFile(folder.resolve("meeting-" + number))
            : new Rendezvous.Tcp(master, port + number, false);
    return master == null
        ? new World(rank, ranks, rank, ranks, 0, 1, meeting)
        : new World(rank, ranks, 0, 1, rank, ranks, meeting);
  }

  private void measure(List<Running> all) {
    for (var running : all) {
      for (int i = 0; i < running.variant().warmUp(); i++) {
        step(running);
      }
    }
    for (int round = 0; round < rounds; round++) {
      for (var running : all) {
        running.times().add(step(running));
      }
    }
  }

  /** Returns the steps of a variant, those before the first measured one included. */
  private long steps(BenchVariant variant) {
    return (long) (variant.warmUp() + rounds) * steps;
  }

  /** Returns the milliseconds of a step. */
  private double step(Running running) {
    // All ranks come to every variant together, also to the one that each runs alone.
    running.trainer().collective().barrier();
    long start = System.nanoTime();
    for (int i = 0; i < steps; i++) {
      try (var _ = TensorScope.open()) {
        running.trainer().stepNonBlocking(running.batch());
      }
    }
    // What the last step has left on its way belongs to it.
    running.trainer().model();
    return (System.nanoTime() - start) / 1e6 / steps;
  }

  private void write(List<Running> all) {
    Map<String, Object> results = new LinkedHashMap<>();
    for (var running : all) {
      long made = steps(running.variant());
      Map<String, Object> result = new LinkedHashMap<>();
      result.put("ms", running.times());
      result.put(
          "bytes_per_step",
          (double) running.trainer().collective().count(Traffic.EXCHANGE).bytesSent() / made);
      result.putAll(running.trainer().metrics());
      results.put(running.variant().name(), result);
    }
    try {
      Files.writeString(folder.resolve("result.json"), Json.pretty(results));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
