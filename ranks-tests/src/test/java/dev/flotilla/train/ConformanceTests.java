package dev.flotilla.train;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.config.Catalogue;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.ema.Ema;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Conformance;
import dev.flotilla.testkit.Conformance.Row;
import dev.flotilla.testkit.Conformance.Trait;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.RecordingCollective;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.bytedeco.javacpp.Pointer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Runs every row of the conformance table through the same checks. */
class ConformanceTests {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);
  private static final int UPDATES = 20;
  private static final double UNTRAINED_LOSS = Math.log(4);

  /**
   * What a run came to.
   *
   * @param trained the weights
   * @param weights the same, with a moving average of them where a row keeps one
   */
  private record Outcome(
      Snapshot trained, Snapshot weights, List<RecordingCollective.Call> calls, double loss) {

    static Outcome of(Trainer trainer, Row row, List<RecordingCollective.Call> calls, double loss) {
      boolean isAveraged = row.techniques().stream().anyMatch(Ema.class::isInstance);
      var trained = Snapshot.of(trainer);
      var weights = isAveraged ? trained.with("ema ", Snapshot.ofEma(trainer)) : trained;
      return new Outcome(trained, weights, calls, loss);
    }
  }

  /** A row on a number of ranks. */
  private record Job(Row row, int ranks) {}

  /** What each rank of a run comes to that nobody disturbs: many checks compare with it. */
  private static final Map<Job, List<Outcome>> UNDISTURBED = new HashMap<>();

  /** Folders of runs that were stopped; whoever goes on takes a copy. */
  private static final Map<Job, Path> STOPPED = new HashMap<>();

  @TempDir static Path stops;

  @AfterAll
  static void forget() {
    UNDISTURBED.clear();
    STOPPED.clear();
  }

  static Stream<Row> rows() {
    return Conformance.rows();
  }

  /** What takes longer is checked with each technique and each optimizer, not with all together. */
  static Stream<Row> firsts() {
    return Conformance.firsts();
  }

  static Stream<Row> others() {
    var firsts = firsts().map(Row::name).collect(Collectors.toSet());
    return rows().filter(row -> !firsts.contains(row.name()));
  }

  static Stream<Row> combinations() {
    return techniques().filter(row -> row.techniques().size() > 1);
  }

  /** What optimizers have no part in is checked with one of them. */
  static Stream<Row> techniques() {
    return Conformance.techniques();
  }

  private static TrainerBuilder trainer(World world, Row row, int updates) {
    return Trainer.on(world)
        .model(row.has(Trait.NORMED) ? new NormedPerceptron(8, 16, 4) : new Mlp(8, List.of(16), 4))
        .optimizer(row.optimizer())
        .strategy(row.techniques().toArray(Strategy[]::new))
        .threads(1)
        .loop(LoopSettings.defaults().endAfterUpdates(updates));
  }

  private static Outcome train(World world, Row row) {
    var recorder = new AtomicReference<RecordingCollective>();
    var builder =
        trainer(world, row, UPDATES)
            .collective(
                group -> {
                  recorder.set(new RecordingCollective(group));
                  return recorder.get();
                });
    try (var trainer = builder.build()) {
      var result = trainer.fit(source(world), 1);
      return Outcome.of(trainer, row, recorder.get().calls(), result.loss());
    }
  }

  private static List<Outcome> undisturbed(Row row, int ranks) {
    return UNDISTURBED.computeIfAbsent(
        new Job(row, ranks), _ -> Ranks.of(ranks).callWorlds(world -> train(world, row)));
  }

  private static Outcome whole(Row row, int ranks) {
    return undisturbed(row, ranks).getFirst();
  }

  /** A technique that joins the library joins the table. */
  @Tag("quick")
  @Test
  void everyTechniqueHasARow() {
    var keys =
        rows()
            .flatMap(row -> row.techniques().stream())
            .map(Strategy::key)
            .collect(Collectors.toSet());
    assertThat(keys)
        .containsAll(Catalogue.installed().types(Strategy.class).keySet())
        .contains("clip", "exchange", "batch_norm", "ema");
  }

  /** What remembers nothing has nothing to lose. */
  @Test
  void everyOptimizerThatRemembersHasARow() {
    var rules = rows().map(row -> row.optimizer().getClass().getName()).collect(Collectors.toSet());
    assertThat(Catalogue.installed().types(Optimizer.class).values())
        .filteredOn(type -> type != Sgd.class)
        .extracting(Class::getName)
        .allSatisfy(type -> assertThat(rules).contains(type));
  }

  @ParameterizedTest
  @MethodSource("combinations")
  void theOrderOfTechniquesDoesNotMatter(Row row) {
    var forward = whole(row, 1);
    var backward = train(World.solo(), row.turned());
    assertThat(forward.weights().isSameAs(backward.weights())).isTrue();
  }

  @Tag("quick")
  @ParameterizedTest
  @MethodSource("rows")
  void oneRankKeepsItsPromiseTowardsTheBaseline(Row row) {
    var baseline = whole(row.baseline(), 1);
    var outcome = whole(row, 1);
    switch (row.promise()) {
      case EXACT -> assertThat(outcome.trained().isSameAs(baseline.trained())).isTrue();
      case ROUNDING ->
          assertThat(outcome.trained().relativeDistance(baseline.trained())).isLessThan(1e-5);
      case ALGORITHMIC -> {
        assertThat(outcome.trained().isSameAs(baseline.trained())).isFalse();
        assertThat(outcome.loss()).isLessThan(2 * baseline.loss());
      }
    }
  }

  @Tag("quick")
  @ParameterizedTest
  @MethodSource("firsts")
  void ranksAgreeToTheBitAndMakeTheSameCalls(Row row) {
    assertRanksAgree(row);
  }

  /** None in a thorough build, where all rows are among the first. */
  @ParameterizedTest(allowZeroInvocations = true)
  @MethodSource("others")
  void ranksAgreeInCombinationsToo(Row row) {
    assertRanksAgree(row);
  }

  private static void assertRanksAgree(Row row) {
    var outcomes = undisturbed(row, 2);
    assertThat(outcomes.get(0).weights().isSameAs(outcomes.get(1).weights())).isTrue();
    assertThat(byGroup(outcomes.get(0))).isEqualTo(byGroup(outcomes.get(1)));
    assertThat(outcomes.get(0).calls())
        .hasSizeGreaterThanOrEqualTo(isLocal(row) ? UPDATES / 4 : UPDATES);
  }

  private static Map<Integer, List<RecordingCollective.Call>> byGroup(Outcome outcome) {
    return outcome.calls().stream().collect(Collectors.groupingBy(RecordingCollective.Call::group));
  }

  private static boolean isLocal(Row row) {
    return row.techniques().stream()
        .anyMatch(technique -> technique.properties().contains(Property.LETS_RANKS_DIFFER));
  }

  @ParameterizedTest
  @MethodSource("rows")
  void twoRanksEqualOneRankToRounding(Row row) {
    var one = whole(row, 1);
    var two = whole(row, 2);
    assertThat(two.weights().relativeDistance(one.weights())).isLessThan(row.rounding());
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("techniques")
  void oneRankThatWasStoppedGoesOnAsIfItNeverWas(Row row, @TempDir Path folder) throws IOException {
    takeStopped(row, 1, folder);
    var resumed = goOn(World.solo(), row, folder);
    assertThat(resumed.weights().isSameAs(whole(row, 1).weights())).isTrue();
  }

  @ParameterizedTest
  @MethodSource("firsts")
  void twoRanksThatWereStoppedGoOnAsIfTheyNeverWere(Row row, @TempDir Path folder)
      throws IOException {
    takeStopped(row, 2, folder);
    var resumed = Ranks.of(2).callWorlds(world -> goOn(world, row, folder)).getFirst();
    assertRepeats(row, resumed, whole(row, 2).weights());
  }

  /**
   * What waits in half a window, in residuals and in statistics goes on, whoever takes it up; where
   * several ranks take another way than one, it is enough that they learn.
   */
  @ParameterizedTest
  @MethodSource("firsts")
  void oneRankGoesOnInsideAWindowOfTwo(Row row, @TempDir Path folder) throws IOException {
    anotherNumberOfRanksGoesOn(row, 2, folder);
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("techniques")
  void twoRanksGoOnInsideAWindowOfOne(Row row, @TempDir Path folder) throws IOException {
    anotherNumberOfRanksGoesOn(row, 1, folder);
  }

  private static void anotherNumberOfRanksGoesOn(Row row, int before, Path folder)
      throws IOException {
    var whole = whole(row, 1);
    double enough = Math.max(2 * Math.max(whole.loss(), whole(row, 2).loss()), UNTRAINED_LOSS / 2);
    boolean isSame = row.rounding() < 0.5 && !isLocal(row);
    takeStopped(row, before, folder);
    var resumed = Ranks.of(3 - before).callWorlds(world -> goOn(world, row, folder)).getFirst();
    if (isSame) {
      assertThat(resumed.weights().relativeDistance(whole.weights())).isLessThan(row.rounding());
    } else {
      assertThat(resumed.loss()).isLessThan(enough);
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("techniques")
  void twoRanksThatAreAskedForMoreGoOnAsIfTheyHadNotEnded(Row row, @TempDir Path folder) {
    whoIsAskedForMoreGoesOnAsIfItHadNotEnded(row, 2, folder);
  }

  @Tag("thorough")
  @ParameterizedTest
  @MethodSource("techniques")
  void oneRankThatIsAskedForMoreGoesOnAsIfItHadNotEnded(Row row, @TempDir Path folder) {
    whoIsAskedForMoreGoesOnAsIfItHadNotEnded(row, 1, folder);
  }

  /** The end of the shorter run lies inside an epoch, and inside a round of local SGD. */
  private static void whoIsAskedForMoreGoesOnAsIfItHadNotEnded(Row row, int ranks, Path folder) {
    Ranks.of(ranks)
        .callWorlds(
            world -> {
              try (var trainer = savingTrainer(world, row, folder, 13)) {
                trainer.fit(source(world), 1);
                assertThat(trainer.updates()).isEqualTo(13);
                return trainer.microSteps();
              }
            });
    var more = Ranks.of(ranks).callWorlds(world -> goOn(world, row, folder)).getFirst();
    assertRepeats(row, more, whole(row, ranks).weights());
  }

  private static void assertRepeats(Row row, Outcome again, Snapshot weights) {
    if (row.has(Trait.TIMED)) {
      assertThat(again.weights().relativeDistance(weights)).isLessThan(row.rounding());
    } else {
      assertThat(again.weights().isSameAs(weights)).isTrue();
    }
  }

  /** Copies the checkpoints of a run that was stopped. */
  private static void takeStopped(Row row, int ranks, Path copy) throws IOException {
    var own = STOPPED.computeIfAbsent(new Job(row, ranks), ConformanceTests::stopped);
    try (var files = Files.walk(own)) {
      for (var file : files.toList()) {
        Files.copy(file, copy.resolve(own.relativize(file).toString()), REPLACE_EXISTING);
      }
    }
  }

  private static Path stopped(Job job) {
    var own = stops.resolve("run-" + STOPPED.size());
    Ranks.of(job.ranks()).callWorlds(world -> stopInsideAWindow(world, job.row(), own));
    return own;
  }

  /** Stops after 11 micro-steps, which is inside a window where there are windows. */
  private static long stopInsideAWindow(World world, Row row, Path folder) {
    try (var trainer = savingTrainer(world, row, folder, UPDATES)) {
      trainer.link(new StopsAfter(10));
      assertThatThrownBy(() -> trainer.fit(source(world), 1)).isInstanceOf(StoppedException.class);
      return trainer.microSteps();
    }
  }

  private static Outcome goOn(World world, Row row, Path folder) {
    try (var trainer = savingTrainer(world, row, folder, UPDATES)) {
      assertThat(trainer.resume(folder)).isPresent();
      var result = trainer.fit(source(world), 1);
      assertThat(trainer.updates()).isEqualTo(UPDATES);
      return Outcome.of(trainer, row, List.of(), result.loss());
    }
  }

  private static Trainer savingTrainer(World world, Row row, Path folder, int updates) {
    return trainer(world, row, updates).checkpoints(CheckpointSettings.in(folder)).build();
  }

  private static BatchSource source(World world) {
    return POINTS.batches(32 / world.size()).shuffled(7);
  }

  @ParameterizedTest
  @MethodSource("firsts")
  void nativeObjectsStayFlatFromStepTwelveToFiftyOne(Row row) throws InterruptedException {
    collectWhatEarlierTestsLeft();
    try (var trainer = trainer(World.solo(), row, UPDATES).build()) {
      var shard = POINTS.batches(8).shuffled(1).epoch(0, 0, 1);
      long atTwelve = 0;
      // Both at the end of a window, as batches may wait inside it.
      for (int step = 1; step <= 51; step++) {
        try (var _ = TensorScope.open()) {
          trainer.step(shard.load(step));
        }
        atTwelve = step == 12 ? Pointer.totalCount() : atTwelve;
      }
      assertThat(Pointer.totalCount()).isEqualTo(atTwelve);
    }
  }

  /** The collector would free it in the midst of counting. */
  private static void collectWhatEarlierTestsLeft() throws InterruptedException {
    System.gc();
    long before = -1;
    while (before != Pointer.totalCount()) {
      before = Pointer.totalCount();
      Thread.sleep(20);
    }
  }
}
