package dev.flotilla.app;

import dev.flotilla.app.advise.Advice;
import dev.flotilla.app.advise.AdviceText;
import dev.flotilla.app.advise.Combination;
import dev.flotilla.app.advise.Combinations;
import dev.flotilla.app.advise.LinkRate;
import dev.flotilla.app.advise.Prediction;
import dev.flotilla.app.advise.RecipeText;
import dev.flotilla.app.doctor.Measured;
import dev.flotilla.app.doctor.Measured.Busy;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.RunConfig;
import dev.flotilla.config.StepTrial.Result;
import dev.flotilla.control.PrivateFiles;
import dev.flotilla.launch.LaunchSettings;
import dev.flotilla.memory.ProcessMemory;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.world.World;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Advises on a recipe: tries combinations of techniques, predicts them over a link, and recommends
 * one.
 */
final class PlanAdvice {

  private static final int CYCLES = 3;

  /**
   * What the command line says.
   *
   * @param perHost ranks of a host
   * @param nodes number of hosts
   * @param memory what a rank may take; null for its share of what is free
   * @param link a rate, or the file that a doctor has written; null to measure
   * @param latency of a link that is given
   * @param stepTime of plain on the machine that will train; null for what is measured here
   * @param allowsApproximate whether the mathematics may change
   * @param write file for the recipe; null for none
   */
  record Wishes(
      int perHost,
      int nodes,
      @Nullable String memory,
      @Nullable String link,
      String latency,
      @Nullable String stepTime,
      boolean allowsApproximate,
      @Nullable Path write) {

    int ranks() {
      return perHost * nodes;
    }
  }

  private final RecipeOptions recipe;
  private final Wishes wishes;
  private final Map<String, String> leftOut = new LinkedHashMap<>();

  PlanAdvice(RecipeOptions recipe, Wishes wishes) {
    this.recipe = recipe;
    this.wishes = wishes;
  }

  /** Prints the advice, and writes the recipe where one is wanted. */
  void give() {
    var config = recipe.read();
    var ranks = wishes.ranks();
    new ConfiguredRun(config, PlanCommand.worldOf(ranks)).plan();
    requireNew();
    long limit = limit();
    var stated = givenLink();
    Unpacking.ensureDone();
    var link = ranks == 1 ? stated.orElseThrow() : link(stated, config);
    try {
      var folder = Files.createTempDirectory("flotilla-advise");
      try {
        var trials = new Trials(recipe, ranks, wishes.perHost(), CYCLES, folder);
        var advice = new Advice(predictions(trials, link), limit, wishes.allowsApproximate());
        print(config, advice, link);
        write(trials, advice);
      } finally {
        PrivateFiles.deleteFolder(folder);
      }
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot make trials", failure);
    }
  }

  private long limit() {
    if (wishes.memory() == null) {
      return ProcessMemory.roomBytes() / wishes.perHost();
    }
    try {
      return ByteSize.parse(wishes.memory()).bytes();
    } catch (ConfigException wrong) {
      throw new ConfigException("--memory", wrong.problems().getFirst().message());
    }
  }

  /** Returns what the command line says of the link, if anything. */
  private Optional<LinkRate> givenLink() {
    String given = wishes.link();
    if (given != null) {
      var file = Path.of(given);
      return Optional.of(
          Files.isRegularFile(file)
              ? LinkRate.of(measuredIn(file), "measured by flotilla doctor, " + file)
              : LinkRate.parse(given, wishes.latency()));
    }
    if (wishes.ranks() == 1) {
      return Optional.of(new LinkRate(0, 0, Busy.UNKNOWN, "one rank has none"));
    }
    if (wishes.nodes() > 1) {
      throw new ConfigException(
          "--link",
          "several hosts need one: give a rate such as 100mbit, or the file that flotilla doctor"
              + " --json wrote when it was started on all of them");
    }
    return Optional.empty();
  }

  /** Where the link does not say what moving bytes costs, ranks of this host do. */
  private LinkRate link(Optional<LinkRate> stated, RunConfig config) {
    var link = stated.orElseGet(this::requireMeasured);
    if (wishes.ranks() == 1 || !Trials.useAllCores(config, wishes.perHost())) {
      return link.withFreeCores();
    }
    if (stated.isEmpty() || link.saysWork()) {
      return link;
    }
    double share = (double) wishes.perHost() / ranksOnHost();
    return measuredOnHost(
            why ->
                System.err.printf(
                    "flotilla: ranks of this host could not be measured (%s): what an exchange"
                        + " takes from computing is left out%n",
                    why))
        .map(onHost -> link.working(onHost, share))
        .orElseGet(link::withFreeCores);
  }

  private LinkRate requireMeasured() {
    return measuredOnHost(
            why -> {
              throw new ConfigException(
                  "--link",
                  "could not be measured (%s): give a rate such as 10gbit".formatted(why));
            })
        .orElseThrow();
  }

  /** Returns the ranks that measure here: one alone has no link. */
  private int ranksOnHost() {
    return Math.max(2, wishes.perHost());
  }

  private Optional<LinkRate> measuredOnHost(Consumer<String> unless) {
    System.err.println("flotilla: measuring the link between ranks of this host");
    var settings = LaunchSettings.oneHost(ranksOnHost(), Path.of("unused"));
    List<String> why = new ArrayList<>();
    var measured = Diagnosis.run(settings, why::add);
    if (measured.isEmpty()) {
      unless.accept(String.join("; ", why));
    }
    return measured.map(it -> LinkRate.of(it, "measured between ranks of this host"));
  }

  @SuppressWarnings("unchecked")
  private static Measured measuredIn(Path file) {
    try {
      return Measured.of((Map<String, Object>) Json.read(file).getOrDefault("measured", Map.of()));
    } catch (RuntimeException malformed) {
      throw new ConfigException(
          "--link", "%s is not what flotilla doctor --json writes".formatted(file));
    }
  }

  private List<Prediction> predictions(Trials trials, LinkRate link) {
    List<Prediction> all = new ArrayList<>();
    double scale = 1;
    for (var combination : combinations(recipe.read(), wishes.ranks())) {
      if (!isAllowed(trials, combination)) {
        continue;
      }
      System.err.printf("flotilla: trying %s%n", combination.name());
      try {
        var trial = trials.pretended(combination);
        if (all.isEmpty() && wishes.stepTime() != null) {
          scale = LinkRate.seconds("--step-time", wishes.stepTime()) / trial.seconds();
        }
        all.add(Prediction.of(combination, scaled(trial, scale), link, wishes.ranks()));
      } catch (ConfigException failed) {
        if (all.isEmpty()) {
          throw failed;
        }
        var words = failed.problems().getFirst().message().strip().lines().toList();
        leftOut.put(combination.name(), "its trial failed: " + words.getLast().strip());
      }
    }
    return all;
  }

  /** Returns the combinations for a recipe on so many ranks. */
  static List<Combination> combinations(RunConfig config, int ranks) {
    var segments = config.model().segments();
    boolean hasNorms = !config.model().buffers().isEmpty();
    int batch = config.batchOn(PlanCommand.worldOf(ranks));
    return Combinations.of(ranks, segments.size(), batch, hasNorms);
  }

  private boolean isAllowed(Trials trials, Combination combination) {
    World world = PlanCommand.worldOf(wishes.ranks());
    try {
      new ConfiguredRun(trials.with(combination), world).plan();
      return true;
    } catch (PlanRejectedException refused) {
      leftOut.put(combination.name(), firstLine(refused));
    } catch (ConfigException refused) {
      leftOut.put(combination.name(), firstLine(refused));
    }
    return false;
  }

  private static String firstLine(RuntimeException refused) {
    return String.valueOf(refused.getMessage()).lines().findFirst().orElse("refused");
  }

  private static Result scaled(Result it, double scale) {
    return new Result(
        it.peakBytes(),
        List.of(scale * it.seconds()),
        scale * it.backward(),
        scale * it.firstBucket(),
        it.buckets(),
        it.microSteps(),
        it.samples(),
        it.sent());
  }

  private void print(RunConfig config, Advice advice, LinkRate link) {
    System.out.printf(
        Locale.ROOT,
        "%s, %d parameters, %d rank%s on %d host%s%n",
        config.model().name(),
        config.model().parameterCount(),
        wishes.ranks(),
        wishes.ranks() == 1 ? "" : "s",
        wishes.nodes(),
        wishes.nodes() == 1 ? "" : "s");
    if (wishes.ranks() > 1) {
      System.out.printf("link     %s%n", link.text());
    }
    System.out.printf(
        "memory   %s per rank (%s)%n",
        new ByteSize(Math.max(1, advice.limitBytes() >> 20 << 20)),
        wishes.memory() == null ? "what is free here, shared by the ranks of a host" : "given");
    System.out.printf(
        "compute  %s%n%n",
        wishes.stepTime() == null
            ? "measured here, in trials of a few updates"
            : "plain given as %s; others by what their trials took beside plain's"
                .formatted(wishes.stepTime()));
    System.out.print(AdviceText.of(advice, leftOut));
    System.out.printf("%n%s%n", advice.explanation(link));
  }

  /** A file that is there is not written over, and that is said before trials are made. */
  private void requireNew() {
    var file = wishes.write();
    if (file != null && Files.exists(file)) {
      throw exists(file);
    }
  }

  private static ConfigException exists(Path file) {
    return new ConfigException(
        "--write", "%s is there already: name another file, or remove it".formatted(file));
  }

  private void write(Trials trials, Advice advice) throws IOException {
    var file = wishes.write();
    var best = advice.recommended();
    if (file == null || best.isEmpty()) {
      return;
    }
    var combination = best.get().combination();
    var comment =
        List.of(
            "By flotilla plan --advise, for %d ranks: %s."
                .formatted(wishes.ranks(), combination.name()),
            String.format(
                Locale.ROOT,
                "Predicted: %.1f ms per update, peak memory %d MiB per rank.",
                1e3 * best.get().seconds(),
                best.get().trial().peakBytes() >> 20));
    var text = RecipeText.of(trials.with(combination).resolved(), comment);
    try (var out =
        Files.newOutputStream(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (FileAlreadyExistsException made) {
      throw exists(file);
    } catch (IOException failure) {
      throw new ConfigException(
          "--write", "%s cannot be written: %s".formatted(file, failure.getMessage()));
    }
    System.out.printf("written to %s%n", file);
  }
}
