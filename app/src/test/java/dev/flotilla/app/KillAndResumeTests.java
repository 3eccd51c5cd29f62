package dev.flotilla.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.world.ExitCodes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A random rank is killed at a random instant, and the run resumed: it must end as if nothing had
 * happened, in weights and in events.
 *
 * <p>The numbers of kills grow with the profile {@code thorough}.
 */
class KillAndResumeTests {

  private static final int KILLS = Integer.getInteger("flotilla.test.kills", 1);
  private static final int KILLS_IN_A_RUN = Math.min(3, KILLS);
  private static final int KILLS_PER_VARIANT =
      Integer.getInteger("flotilla.test.kills.per.variant", 1);
  private static final int STOPS = Integer.getInteger("flotilla.test.stops", 1);
  private static final int RANKS = Integer.getInteger("flotilla.test.kill.ranks", 2);
  private static final String PLAIN = "plain";

  private static final String SMALL_JOB =
      """
      model: {name: mlp, inputs: 1024, hidden: [%d], dropout: 0.2}
      data: digits
      global_batch: 24
      max_steps: 80
      optimizer: {name: momentum, lr: 0.05}
      schedule: cosine
      eval: {every: %d}
      compare_every: 40
      threads: 1
      device: cpu
      """;

  /**
   * What is killed, by name.
   *
   * @param every updates between two saves
   * @param strategy what the recipe says of it
   * @param besides what the recipe says of it elsewhere
   */
  record Technique(int every, String strategy, String besides) {

    Technique(int every, String strategy) {
      this(every, strategy, "");
    }

    /** Whether evaluations decide which checkpoint is kept, and when the run ends. */
    boolean decides() {
      return besides.contains("stop_when:");
    }

    /** Without instructions for them, a CPU takes ten times as long for 16 bits. */
    int hidden() {
      return strategy.contains("amp:") ? 8 : 64;
    }
  }

  private static final Map<String, Technique> TECHNIQUES =
      Map.ofEntries(
          Map.entry(PLAIN, new Technique(10, "")),
          Map.entry("merge", new Technique(7, "gradient_merge: {k_steps: 3}")),
          Map.entry("recompute", new Technique(10, "recompute: {every: 1}")),
          Map.entry(
              "buckets, bf16",
              new Technique(
                  10, "fuse_all_reduce: {size_mb: 0.01, wire: bf16}, amp: {dtype: bf16}")),
          Map.entry(
              "fp16, recompute, merge",
              new Technique(
                  7,
                  "gradient_merge: {k_steps: 3}, recompute: {every: 1},"
                      + " amp: {dtype: fp16, incr_every_n_steps: 5}")),
          Map.entry(
              "dgc in its warm-up",
              new Technique(
                  10,
                  "dgc: {rampup_begin_step: 40, rampup_step: 400, sparsity: [0.75, 0.9, 0.99]}")),
          Map.entry(
              "dgc from its warm-up on, packed",
              new Technique(
                  10,
                  "dgc: {rampup_begin_step: 20, rampup_step: 40, sparsity: [0.75, 0.9, 0.99],"
                      + " values: fp16, indices: packed}")),
          Map.entry(
              "local, recompute, merge, fp16",
              new Technique(
                  7,
                  "localsgd: {k_steps: 5, momentum: average}, gradient_merge: {k_steps: 2},"
                      + " recompute: {every: 1}, amp: {dtype: fp16, incr_every_n_steps: 5}")),
          Map.entry(
              "adaptive, behind, int8",
              new Technique(7, "adaptive_localsgd: {init_k_steps: 6, wire: int8, overlap: true}")),
          Map.entry(
              "powersgd, merge",
              new Technique(
                  7, "powersgd: {rank: 2, start_step: 20}, gradient_merge: {k_steps: 2}")),
          Map.entry(
              "sharding, merge",
              new Technique(7, "sharding: {stage: 1}, gradient_merge: {k_steps: 3}")),
          Map.entry(
              "sharding 2, parameters in bf16, merge",
              new Technique(
                  7,
                  "sharding: {stage: 2, parameters: bf16}, gradient_merge: {k_steps: 3},"
                      + " amp: {dtype: bf16}")),
          Map.entry(
              "sharding 2, local SGD between hosts, merge",
              new Technique(
                  7,
                  "sharding: {stage: 2}, localsgd: {k_steps: 5, group: host},"
                      + " gradient_merge: {k_steps: 3}")),
          Map.entry(
              "sharding 3, merge, ema, early stop",
              new Technique(
                  7,
                  "sharding: {stage: 3}, gradient_merge: {k_steps: 3}",
                  """
                  ema: {decay: 0.95, start: 5}
                  stop_when: {metric: ema/loss, patience: 2, min_delta: 10}
                  """)));

  /**
   * Killed where there is time for it: other rows hold the first five, with something beside them.
   * Of the others, a killed job of another row writes checkpoints the same way, and {@code
   * ConformanceTests}, {@code ShardingResumptionTests} and {@code ShardedHostsTests} stop and
   * resume what they remember.
   */
  private static final Set<String> IN_OTHERS =
      Set.of(
          "merge",
          "recompute",
          "fp16, recompute, merge",
          "dgc in its warm-up",
          "sharding, merge",
          "adaptive, behind, int8",
          "buckets, bf16",
          "local, recompute, merge, fp16",
          "powersgd, merge",
          "sharding 2, local SGD between hosts, merge",
          "sharding 2, parameters in bf16, merge");

  /** A technique with one of the two ways to save. */
  record Variant(String name, boolean savesBehind) {

    Technique technique() {
      return Objects.requireNonNull(TECHNIQUES.get(name));
    }

    String recipe() {
      return SMALL_JOB.formatted(technique().hidden(), technique().decides() ? 10 : 40)
          + "checkpoint: {every: %d, async: %b%s}%n"
              .formatted(
                  technique().every(), savesBehind, technique().decides() ? ", best: ema/loss" : "")
          + "strategy: {%s}%n%s%n".formatted(technique().strategy(), technique().besides());
    }

    @Override
    public String toString() {
      return name + (savesBehind ? ", async" : ", sync");
    }
  }

  private static final Variant MOST_KILLED = new Variant(PLAIN, true);

  /** A run that nobody disturbed, and how long it took. */
  private record Whole(RunFiles files, Duration took) {}

  @TempDir static Path folder;
  private static final Map<Variant, Whole> WHOLE = new ConcurrentHashMap<>();

  /** Each run is killed several times before it may come to its end. */
  static Stream<Integer> seeds() {
    return IntStream.range(0, Math.ceilDiv(KILLS, KILLS_IN_A_RUN)).boxed();
  }

  static Stream<Integer> stops() {
    return IntStream.range(0, STOPS).boxed();
  }

  /** Both ways to save with each; where there is time for a single kill, one way in turn. */
  static Stream<Variant> variants() {
    var names =
        TECHNIQUES.keySet().stream()
            .filter(name -> KILLS_PER_VARIANT > 1 || !IN_OTHERS.contains(name))
            .filter(name -> KILLS_PER_VARIANT > 1 || !name.equals(PLAIN))
            .sorted()
            .toList();
    return IntStream.range(0, 2 * names.size())
        .filter(i -> KILLS_PER_VARIANT > 1 || i / 2 % 2 == i % 2)
        .mapToObj(i -> new Variant(names.get(i / 2), i % 2 == 0))
        .filter(variant -> !variant.equals(MOST_KILLED));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void killedAtARandomInstant(int seed) throws Exception {
    killAndResume(MOST_KILLED, seed, KILLS_IN_A_RUN);
  }

  @ParameterizedTest
  @MethodSource("variants")
  void killedWithEachTechnique(Variant variant) throws Exception {
    for (int seed = 0; seed < KILLS_PER_VARIANT; seed++) {
      killAndResume(variant, 1000 + seed, 1);
    }
  }

  /** Processes with dropout, each with its own generator. */
  @Tag("thorough")
  @Test
  void recomputingChangesNoBitInSeveralProcesses() throws Exception {
    assertThat(whole(new Variant("recompute", true)).files().weights())
        .isEqualTo(whole(MOST_KILLED).files().weights());
  }

  /** SIGTERM to the launcher, or SIGUSR1 to a rank: all ranks stop after the same micro-step. */
  @ParameterizedTest
  @MethodSource("stops")
  void stoppedAtARandomInstant(int seed) throws Exception {
    var variant = seed % 2 == 0 ? variants().findFirst().orElseThrow() : MOST_KILLED;
    var whole = whole(variant);
    var flotilla = flotilla("stop-" + seed);
    var random = new SplittableRandom(seed);
    Ended stopped;
    try (var job = launch(flotilla, variant)) {
      job.awaitTraining(flotilla.work().resolve("run"));
      Thread.sleep(random.nextInt(500));
      if (seed % 3 == 0) {
        Running.signal("USR1", job.rank(random.nextInt(RANKS)));
      } else {
        Running.signal("TERM", job.process().toHandle());
      }
      stopped = job.await(Duration.ofSeconds(40)).expect(ExitCodes.STOPPED);
    }
    try (var again = launch(flotilla, variant)) {
      var resumed = again.await().expect(ExitCodes.OK);
      assertThat(update(resumed.out(), "resumed after update (\\d+)"))
          .as("no step is lost")
          .isEqualTo(
              update(stopped.err() + stopped.out(), "stopped on request after update (\\d+)"));
    }
    assertSame(whole.files(), new RunFiles(flotilla.work().resolve("run")), "seed " + seed);
  }

  private static String update(String output, String pattern) {
    var matcher = Pattern.compile(pattern).matcher(output);
    assertThat(matcher.find()).as("%s in\n%s", pattern, output).isTrue();
    return matcher.group(1);
  }

  private static void assertSame(RunFiles whole, RunFiles resumed, String how) {
    assertThat(resumed.weights()).as(how).isEqualTo(whole.weights());
    assertThat(comparable(resumed.events())).as(how).isEqualTo(comparable(whole.events()));
    assertThat(resumed.model()).as(how).hasSameBinaryContentAs(whole.model());
  }

  private static void killAndResume(Variant variant, int seed, int kills) throws Exception {
    var whole = whole(variant);
    var flotilla = flotilla(variant.toString().replaceAll("\\W+", "-") + "-" + seed);
    var random = new SplittableRandom(seed);
    var how = new StringBuilder("%s, seed %d".formatted(variant, seed));
    for (int i = 0; i < kills; i++) {
      how.append(kill(flotilla, variant, random, whole.took()));
    }
    try (var again = launch(flotilla, variant)) {
      again.await().expect(ExitCodes.OK);
    }
    var run = flotilla.work().resolve("run");
    assertSame(whole.files(), new RunFiles(run), how.toString());
    assertThat(Files.readString(run.resolve("summary.json")).contains("stopped_early"))
        .isEqualTo(variant.technique().decides());
    try (var left = Files.list(run.resolve("checkpoints"))) {
      assertThat(left.map(path -> path.getFileName().toString()))
          .allMatch(name -> name.matches("update-.*|[.]writer|[.]lock"));
    }
  }

  /** Returns who was killed and when. */
  private static String kill(
      Flotilla flotilla, Variant variant, SplittableRandom random, Duration whole)
      throws Exception {
    int victim = random.nextInt(RANKS);
    // From the moment when the rank exists, over all of the run, its saves and its end.
    var after = Duration.ofMillis((long) (whole.toMillis() * random.nextDouble()));
    try (var job = launch(flotilla, variant)) {
      var rank = job.rank(victim);
      Thread.sleep(after);
      boolean wasAlive = rank.destroyForcibly();
      int code = job.await().exitCode();
      assertThat(code)
          .as("rank %d killed after %s, alive: %s\n%s", victim, after, wasAlive, job.err())
          .isIn(ExitCodes.OK, ExitCodes.SIGNAL + 9);
    }
    return ": rank %d killed after %s".formatted(victim, after);
  }

  private static Whole whole(Variant variant) {
    return WHOLE.computeIfAbsent(variant, KillAndResumeTests::undisturbed);
  }

  private static Whole undisturbed(Variant variant) {
    var flotilla = flotilla(variant.toString().replaceAll("\\W+", "-") + "-whole");
    long start = System.nanoTime();
    try (var job = launch(flotilla, variant)) {
      job.rank(0);
      start = System.nanoTime();
      job.await().expect(ExitCodes.OK);
    }
    var took = Duration.ofNanos(System.nanoTime() - start);
    return new Whole(new RunFiles(flotilla.work().resolve("run")), took);
  }

  private static Flotilla flotilla(String name) {
    return Flotilla.in(folder.resolve(name));
  }

  private static Running launch(Flotilla flotilla, Variant variant) {
    var recipe = flotilla.work().resolve("small.yaml");
    try {
      Files.createDirectories(flotilla.work());
      Files.writeString(recipe, variant.recipe());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return flotilla.start(
        "run", "--nproc=" + RANKS, recipe.toString(), "--out", "run", "--resume", "auto");
  }

  /** Leaves out what depends on the clock and the machine. */
  private static List<JsonNode> comparable(List<JsonNode> events) {
    events.forEach(KillAndResumeTests::withoutTimes);
    return events;
  }

  private static void withoutTimes(JsonNode node) {
    if (node instanceof ObjectNode object) {
      object.remove(
          List.of(
              "time",
              "seconds",
              "samples_per_second",
              "train_seconds",
              "data_wait_seconds",
              "wall_seconds",
              "peak_rss_bytes",
              "step_seconds",
              "exchange",
              "select_ms",
              "wire_ms",
              "apply_ms",
              "waiting"));
      object.values().forEach(KillAndResumeTests::withoutTimes);
    }
  }
}
