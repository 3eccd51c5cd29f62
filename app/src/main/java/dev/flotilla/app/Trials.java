package dev.flotilla.app;

import dev.flotilla.app.advise.Combination;
import dev.flotilla.app.advise.Combinations;
import dev.flotilla.app.doctor.Measured;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.StepTrial.Result;
import dev.flotilla.launch.RankCommand;
import dev.flotilla.memory.CpuThreads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Makes short trials of a recipe with combinations of techniques, each in processes of its own: so
 * that the memory of one is not that of another, and a combination that ends its process ends
 * nothing else.
 */
final class Trials {

  private static final int WARM_UP = 3;
  private static final int WARM_UP_OF_LOOPS = 16;

  private final RecipeOptions recipe;
  private final int ranks;
  private final int perHost;
  private final int cycles;
  private final Path folder;

  /**
   * Where processes of a trial run.
   *
   * @param on what to put before the command of a host
   * @param master where ranks meet; null where they are pretended
   * @param port there
   */
  record Place(IntFunction<List<String>> on, @Nullable String master, int port) {

    /** Here, with ranks that are pretended. */
    static final Place ALONE = new Place(_ -> List.of(), null, 0);
  }

  /**
   * Prepares trials.
   *
   * @param ranks of the job
   * @param perHost ranks of a host, which share its cores
   * @param cycles of updates that are timed
   * @param folder for results and output of processes
   */
  Trials(RecipeOptions recipe, int ranks, int perHost, int cycles, Path folder) {
    this.recipe = recipe;
    this.ranks = ranks;
    this.perHost = perHost;
    this.cycles = cycles;
    this.folder = folder;
  }

  /** Returns the recipe with a combination in place of its own techniques. */
  RunConfig with(Combination combination) {
    return recipe.read(changes(combination).toArray(String[]::new));
  }

  /** Returns the changes of the recipe that make it a combination. */
  List<String> changes(Combination combination) {
    var config = recipe.read();
    Map<String, Object> strategy = new LinkedHashMap<>();
    if (config.resolved().get("strategy") instanceof Map<?, ?> own) {
      own.forEach(
          (key, value) -> {
            if (!Combinations.KEYS.contains(String.valueOf(key))) {
              strategy.put(String.valueOf(key), value);
            }
          });
    }
    strategy.putAll(combination.strategy());
    List<String> changes = new ArrayList<>();
    changes.add("strategy=" + Json.line(strategy));
    changes.add("exchange=dense");
    var batch = config.batch();
    var global = config.globalBatch();
    if (combination.micro() > 1) {
      changes.add(
          batch != null
              ? "batch=" + batch / combination.micro()
              : "global_batch=" + (global == null ? 1 : global) / combination.micro());
    }
    return changes;
  }

  /** Processes that make the steps of a combination. */
  record Side(Combination combination, Place place, int processes) {}

  /** Returns what an update takes as one of several ranks that are pretended. */
  Result pretended(Combination combination) {
    var side = alone(combination);
    var files = files(0, side.processes());
    execute(files, commands(side.place(), files, arguments(combination)));
    return read(files);
  }

  /** Returns a side of ranks of a host, each of which pretends the others. */
  Side alone(Combination combination) {
    return new Side(combination, Place.ALONE, perHost);
  }

  /** Returns a side of all ranks over a network. */
  Side together(Combination combination, Place place) {
    return new Side(combination, place, ranks);
  }

  /** Returns what an update of two sides takes, which have the machine in turn. */
  List<Result> inTurn(Side first, Side second) {
    var turns = folder.resolve("turns-" + System.nanoTime());
    List<List<Path>> files =
        List.of(files(0, first.processes()), files(first.processes(), second.processes()));
    List<List<String>> commands = new ArrayList<>();
    for (int group = 0; group < 2; group++) {
      var side = group == 0 ? first : second;
      var arguments = arguments(side.combination());
      arguments.addAll(
          List.of("--turns=" + turns, "--group=" + group, "--processes=" + side.processes()));
      commands.addAll(commands(side.place(), files.get(group), arguments));
    }
    execute(files.stream().flatMap(List::stream).toList(), commands);
    return files.stream().map(Trials::read).toList();
  }

  /** Measures the links between the hosts of a place. */
  Measured probe(Place place) {
    var files = files(0, ranks);
    execute(
        files,
        commands(place, files, List.of("--probe", "--ranks=" + ranks, "--threads=" + share())));
    return Measured.of(Json.read(files.getFirst()));
  }

  private List<String> arguments(Combination combination) {
    var config = with(combination);
    List<String> arguments = new ArrayList<>(recipe.arguments());
    changes(combination).forEach(change -> arguments.addAll(List.of("--set", change)));
    if (config.threads() == null) {
      arguments.addAll(List.of("--set", "threads=" + share()));
    }
    boolean loops = combination.strategy().containsKey("dgc");
    arguments.addAll(
        List.of(
            "--ranks=" + ranks,
            "--samples=" + config.batchOn(PlanCommand.worldOf(ranks)),
            "--warm-up=" + (loops ? WARM_UP_OF_LOOPS : WARM_UP),
            "--cycles=" + cycles,
            "--updates=" + combination.period()));
    return arguments;
  }

  /** Tells whether ranks of a host compute on all its cores. */
  static boolean useAllCores(RunConfig config, int perHost) {
    var threads = config.threads();
    long each = threads == null ? share(perHost) : threads;
    return each * perHost >= CpuThreads.coresHere();
  }

  /** Returns the cores of a rank. */
  private int share() {
    return share(perHost);
  }

  private static int share(int perHost) {
    return Math.max(1, CpuThreads.coresHere() / perHost);
  }

  private static Result read(List<Path> files) {
    return Result.ofRanks(files.stream().map(TrialRank::read).toList());
  }

  private List<Path> files(int first, int count) {
    return IntStream.range(first, first + count)
        .mapToObj(i -> folder.resolve("result-%d.json".formatted(i)))
        .toList();
  }

  private static List<List<String>> commands(
      Place place, List<Path> files, List<String> arguments) {
    List<List<String>> commands = new ArrayList<>();
    for (int i = 0; i < files.size(); i++) {
      List<String> command = new ArrayList<>(place.on().apply(i));
      command.add(RankCommand.currentJava().toString());
      command.addAll(JvmOptions.ofRanks());
      command.addAll(List.of("-cp", RankLaunch.ownClassPath(), TrialRank.class.getName()));
      command.addAll(arguments);
      command.addAll(List.of("--rank=" + i, "--result=" + files.get(i)));
      if (place.master() != null) {
        command.addAll(List.of("--master=" + place.master(), "--port=" + place.port()));
      }
      commands.add(command);
    }
    return commands;
  }

  private void execute(List<Path> files, List<List<String>> commands) {
    try {
      for (var file : files) {
        Files.deleteIfExists(file);
      }
      HostProcesses.run(commands, folder);
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot make a trial in " + folder, failure);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while a trial was made", stopped);
    }
  }
}
