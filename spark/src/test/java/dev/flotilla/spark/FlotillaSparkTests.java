package dev.flotilla.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two ranks in two executors, and what becomes of them when one of their processes dies. */
@Tag("slow")
class FlotillaSparkTests {

  private static final Pattern CHECKPOINT = Pattern.compile("update-(\\d+)\\.step-\\d+");
  private static final long PATIENCE_SECONDS = 240;

  /** Updates between two checkpoints of the recipe. */
  private static final int EVERY = 5;

  private static final String RECIPE =
      """
      model: lenet5
      data: digits
      global_batch: 16
      max_steps: 100
      optimizer: {name: momentum, lr: 0.05}
      threads: 1
      device: cpu
      checkpoint: {every: 5}
      """;

  @TempDir static Path folder;
  private static SparkSession session;
  private static Path recipe;
  private static CompletableFuture<Path> plain;

  @BeforeAll
  static void start() throws Exception {
    recipe = Files.writeString(folder.resolve("digits.yaml"), RECIPE);
    plain = CompletableFuture.supplyAsync(FlotillaSparkTests::runWithoutSpark);
    session = LocalCluster.start();
  }

  @AfterAll
  static void stop() {
    if (session != null) {
      session.stop();
    }
  }

  private static Path runWithoutSpark() {
    var out = folder.resolve("plain");
    var variables = LocalCluster.QUICK_TO_START;
    var home = FlotillaHome.find(System.getProperty("flotilla.test.home"), "", variables);
    var arguments = List.of("run", "--nproc", "2", recipe.toString(), "--out", out.toString());
    try (var child = ChildProcess.start(home.command(arguments), variables, folder, 0)) {
      await("the run without Spark", () -> hasEnded(child));
      assertThat(child.exitCode()).as(child.lastLines()).isZero();
      return out;
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean hasEnded(ChildProcess child) {
    try {
      return child.hasEnded(50);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** One job of three attempts takes less time than two jobs of two. */
  @Test
  void ranksAndExecutorsThatDieLeaveTheSameWeights() throws Exception {
    var out = folder.resolve("killed");
    var job = CompletableFuture.supplyAsync(() -> train(out));
    await("the first checkpoint", () -> newest(out) > 0);
    var executors = LocalCluster.executors();
    int aborted = kill(out, 0, "ABRT", LocalCluster::ranks);
    await("the next attempt", () -> newest(out) > aborted + EVERY);
    assertThat(LocalCluster.executors())
        .as("executors after an abort")
        .containsExactlyInAnyOrderElementsOf(executors);
    kill(out, newest(out), "KILL", LocalCluster::executors);
    assertSameWeights(job);
    await("all ranks gone", () -> LocalCluster.ranks().isEmpty());
    assertThat(Files.readString(out.resolve("log/rank-0/workerlog.0"))).isNotEmpty();
  }

  @RepeatedTest(10)
  @Tag("thorough")
  void aRankThatIsKilledLeavesTheSameWeights() throws Exception {
    killOnce("KILL", LocalCluster::ranks);
  }

  @RepeatedTest(10)
  @Tag("thorough")
  void aRankThatAbortsLeavesTheSameWeightsAndItsExecutorAlive() throws Exception {
    var executors = LocalCluster.executors();
    killOnce("ABRT", LocalCluster::ranks);
    assertThat(LocalCluster.executors()).containsExactlyInAnyOrderElementsOf(executors);
  }

  @RepeatedTest(10)
  @Tag("thorough")
  void anExecutorThatIsKilledLeavesTheSameWeights() throws Exception {
    killOnce("KILL", LocalCluster::executors);
  }

  private static void killOnce(String signal, Supplier<List<ProcessHandle>> victims)
      throws Exception {
    var out = folder.resolve("killed-" + System.nanoTime());
    var job = CompletableFuture.supplyAsync(() -> train(out));
    kill(out, 0, signal, victims);
    assertSameWeights(job);
  }

  private static void assertSameWeights(CompletableFuture<Path> job) throws Exception {
    assertThat(weights(job.get(PATIENCE_SECONDS, TimeUnit.SECONDS)))
        .isEqualTo(weights(plain.get(PATIENCE_SECONDS, TimeUnit.SECONDS)));
  }

  private static Path train(Path out) {
    return FlotillaSpark.train(session, FlotillaSpark.job(recipe, 2, out).withMaxRestarts(5));
  }

  /** Kills the last of some processes once the run has got further; returns how far it was. */
  private static int kill(
      Path out, int from, String signal, Supplier<List<ProcessHandle>> victims) {
    // A checkpoint that was under way when the last one died may still have been written.
    await(
        "two more checkpoints behind update " + from,
        () -> newest(out) > from + EVERY && victims.get().size() == 2);
    int update = newest(out);
    var victim = victims.get().get(1);
    LocalCluster.signal(signal, victim);
    await("the end of process " + victim.pid(), () -> !victim.isAlive());
    return update;
  }

  /** Returns the update of the newest checkpoint; 0 without one. */
  private static int newest(Path out) {
    var names = out.resolve("checkpoints").toFile().list();
    return names == null
        ? 0
        : Stream.of(names)
            .map(CHECKPOINT::matcher)
            .filter(Matcher::matches)
            .mapToInt(matcher -> Integer.parseInt(matcher.group(1)))
            .max()
            .orElse(0);
  }

  @Test
  @Tag("thorough")
  void rowsAreWrittenOnceWithTheirCountsAndDigests() throws IOException {
    var rows = writeRows("rows");
    var lines = Files.readAllLines(rows.resolve("rows.manifest"));
    assertThat(lines).startsWith("flotilla rows 1", "columns 4", "classes 3").hasSize(7);
    assertThat(lines.subList(3, 7))
        .allMatch(line -> line.matches("(train|test) \\1-0000[01]\\.rows \\d+ [0-9a-f]{64}"));
    assertThat(
            lines.subList(3, 7).stream().mapToInt(line -> Integer.parseInt(line.split(" ", -1)[2])))
        .containsExactly(150, 150, 50, 50);
    assertThat(Files.size(rows.resolve("train-00000.rows"))).isEqualTo(150 * 5 * 4);
    assertThatThrownBy(() -> writeRows("rows")).hasMessageContaining("holds rows already");
  }

  /** Rows 0 to 299 to train on, 300 to 399 to test with, in two files each. */
  private static Path writeRows(String name) {
    var all =
        List.of(session.range(0, 300, 1, 2), session.range(300, 400, 1, 2)).stream()
            .map(
                ids ->
                    ids.selectExpr(
                        "array(id % 3, id % 7 / 7.0, 0.5) as some",
                        "cast(id % 2 as float) as one", "id % 3 as label"))
            .toList();
    var rows = folder.resolve(name);
    FlotillaSpark.writeRows(all.get(0), all.get(1), List.of("some", "one"), "label", rows);
    return rows;
  }

  @Test
  @Tag("thorough")
  void aModelLearnsRowsAndItsAnswersComeBack() throws IOException {
    var rows = writeRows("learned-rows");
    var text =
        """
        model: {name: mlp, inputs: 4, hidden: [16], classes: 3}
        data: {name: rows, path: '%s'}
        global_batch: 20
        epochs: 20
        optimizer: {name: momentum, lr: 0.1}
        threads: 1
        device: cpu
        """
            .formatted(rows);
    var learned = Files.writeString(folder.resolve("rows.yaml"), text);
    var out = folder.resolve("learned");
    FlotillaSpark.train(session, FlotillaSpark.job(learned, 2, out));
    var file = folder.resolve("answers.csv");
    var answers = FlotillaSpark.predict(session, out, Optional.of(rows), file);
    assertThat(answers.count()).isEqualTo(100);
    assertThat(answers.filter("class = (sample + 300) % 3").count()).isGreaterThan(95);
  }

  @Test
  void tooFewSlotsAreNamed() {
    var requirements =
        new Requirements(session.sparkContext(), FlotillaSpark.job(recipe, 3, folder));
    assertThatThrownBy(() -> requirements.awaitSlots(0))
        .isInstanceOf(SparkJobException.class)
        .hasMessageContaining("3 ranks need as many slots at once, but the executors have");
  }

  @Test
  @Tag("thorough")
  void aWrongRecipeIsNotTriedAgain() throws IOException {
    var wrong = Files.writeString(folder.resolve("wrong.yaml"), "model: lenet\ndata: digits\n");
    assertThatThrownBy(
            () -> FlotillaSpark.train(session, FlotillaSpark.job(wrong, 2, folder.resolve("w"))))
        .isInstanceOfSatisfying(
            SparkJobException.class, failure -> assertThat(failure.exitCode()).isEqualTo(2))
        .hasMessageContaining("did you mean");
  }

  private static String weights(Path run) throws IOException {
    var summary = Files.readString(run.resolve("summary.json"));
    var matcher = Pattern.compile("\"weights_sha256\"\\s*:\\s*\"([0-9a-f]{64})\"").matcher(summary);
    assertThat(matcher.find()).isTrue();
    return matcher.group(1);
  }

  private static void await(String what, BooleanSupplier holds) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!holds.getAsBoolean()) {
      assertThat(System.nanoTime()).as("time for " + what).isLessThan(end);
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
