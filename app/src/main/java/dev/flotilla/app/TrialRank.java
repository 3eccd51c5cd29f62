package dev.flotilla.app;

import dev.flotilla.app.doctor.RankProbe;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.StepTrial;
import dev.flotilla.config.StepTrial.Length;
import dev.flotilla.config.StepTrial.Result;
import dev.flotilla.config.StepTrial.Sent;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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
 * One process of a trial: makes some steps of a recipe alone, with other ranks pretended, or with
 * other processes over a network; or measures the link to them. Leaves the result in a file.
 */
@Command(name = "trial-rank")
public final class TrialRank implements Callable<Integer> {

  private static final Duration LONGEST_TURN = Duration.ofMinutes(20);

  @Mixin RecipeOptions recipe = new RecipeOptions();

  @Option(names = "--ranks", required = true)
  int ranks;

  @Option(names = "--samples")
  int samples = 1;

  @Option(names = "--warm-up")
  int warmUp = 1;

  @Option(names = "--cycles")
  int cycles = 1;

  @Option(names = "--updates")
  int updates = 1;

  @Option(names = "--result", required = true)
  Path result = Path.of("");

  @Option(names = "--rank")
  int rank;

  /** Where ranks meet: an address, or a file on one host; none where ranks are pretended. */
  @Option(names = "--master")
  @Nullable String master;

  @Option(names = "--port")
  int port;

  /** The file of turns, where two sides are compared; none where this is the only one. */
  @Option(names = "--turns")
  @Nullable Path turns;

  @Option(names = "--group")
  int group;

  @Option(names = "--processes")
  int processes = 1;

  /** Threads that compute while the link is measured. */
  @Option(names = "--threads")
  int threads = 1;

  /** Measures the link instead of making steps. */
  @Option(names = "--probe")
  boolean isProbe;

  /** Runs a process with the options that its parent gives it. */
  public static void main(String[] args) {
    CommandLine.populateCommand(new TrialRank(), args).call();
  }

  @Override
  public Integer call() {
    if (isProbe) {
      RankProbe.run(world(), threads).ifPresent(it -> write(it.json()));
      return 0;
    }
    var run = new ConfiguredRun(recipe.read(), master == null ? World.solo() : world());
    if (turns == null) {
      make(new StepTrial(run, samples, Length.timed(warmUp, cycles, updates)));
    } else {
      try (var turn = new TrialTurns(turns, group, processes, LONGEST_TURN)) {
        make(new StepTrial(run, samples, Length.inTurn(warmUp, cycles, updates), turn));
      }
    }
    return 0;
  }

  private void make(StepTrial trial) {
    write(json(master == null ? trial.pretending(ranks) : trial.together()));
  }

  private World world() {
    String place = String.valueOf(master);
    return place.startsWith("/")
        ? new World(rank, ranks, rank, ranks, 0, 1, new Rendezvous.SharedFile(Path.of(place)))
        : new World(rank, ranks, 0, 1, rank, ranks, new Rendezvous.Tcp(place, port, false));
  }

  private void write(Map<String, Object> values) {
    try {
      Files.writeString(result, Json.line(values));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  private static Map<String, Object> json(Result it) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("peak_bytes", it.peakBytes());
    json.put("cycles", it.cycles());
    json.put("backward", it.backward());
    json.put("first_bucket", it.firstBucket());
    json.put("buckets", it.buckets());
    json.put("micro_steps", it.microSteps());
    json.put("samples", it.samples());
    json.put("reduced", it.sent().reduced());
    json.put("gathered", it.sent().gathered());
    json.put("scattered", it.sent().scattered());
    json.put("messages", it.sent().messages());
    json.put("ahead", it.sent().ahead());
    return json;
  }

  /** Reads what a process has left. */
  static Result read(Path file) {
    var json = Json.read(file);
    return new Result(
        (long) number(json, "peak_bytes"),
        cycles(json),
        number(json, "backward"),
        number(json, "first_bucket"),
        (int) number(json, "buckets"),
        (int) number(json, "micro_steps"),
        (int) number(json, "samples"),
        new Sent(
            number(json, "reduced"),
            number(json, "gathered"),
            number(json, "scattered"),
            number(json, "messages"),
            number(json, "ahead")));
  }

  private static List<Double> cycles(Map<String, Object> json) {
    return json.get("cycles") instanceof List<?> list
        ? list.stream().map(it -> ((Number) it).doubleValue()).toList()
        : List.of();
  }

  private static double number(Map<String, Object> json, String key) {
    return json.get(key) instanceof Number number ? number.doubleValue() : 0;
  }
}
