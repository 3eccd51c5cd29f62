package dev.flotilla.strategy.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.collective.Traffic;
import dev.flotilla.data.BatchSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Model;
import dev.flotilla.optim.LrScaling;
import dev.flotilla.optim.Sgd;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.Phase;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.GradientTap;
import dev.flotilla.testkit.RankFailure;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Merged micro-batches against the one large batch, which is the oracle. */
class GradientMergeTests {

  /** 2 full windows of 64 and a tail of 36, which micro-batches of 16 cut into 16, 16 and 4. */
  private static final ColouredPoints POINTS = new ColouredPoints(164, 8, 4);

  private static final Model MLP = new Mlp(8, List.of(16), 4);

  private record Run(
      List<Map<String, double[]>> gradients, long microSteps, long exchanges, List<String> notes) {}

  private static Run run(
      World world,
      Precision precision,
      Model model,
      BatchSource source,
      int epochs,
      Strategy... with) {
    var tap = new GradientTap();
    List<String> notes = new ArrayList<>();
    var builder =
        Trainer.on(world)
            .model(model)
            .optimizer(new Sgd(0.05))
            .precision(precision)
            .strategy(with)
            .strategy(tap)
            .threads(1)
            .events(
                event -> {
                  if (event instanceof TrainingEvent.Noted(var text)) {
                    notes.add(text);
                  }
                });
    try (var trainer = builder.build()) {
      trainer.fit(source, epochs);
      long exchanges = trainer.collective().count(Traffic.EXCHANGE).operations();
      return new Run(tap.updates(), trainer.microSteps(), exchanges, notes);
    }
  }

  private static GradientMerge merge(int k, boolean avg, Tail tail) {
    return new GradientMerge(WindowLength.of(k), null, avg, tail, Weighting.TERMS);
  }

  static Stream<Arguments> ranksAndPrecisions() {
    return Stream.of(1, 2, 3)
        .flatMap(
            ranks ->
                Stream.of(
                    Arguments.of(ranks, Precision.FLOAT32, 1e-5),
                    Arguments.of(ranks, Precision.FLOAT64, 1e-12)));
  }

  private static Run ranks(
      int ranks, Precision precision, Model model, Dataset data, Strategy... with)
      throws Exception {
    var source = BatchSource.global(data, 16).shuffled(5);
    return Ranks.of(ranks)
        .callWorlds(world -> run(world, precision, model, source, 2, with))
        .getFirst();
  }

  @ParameterizedTest
  @MethodSource("ranksAndPrecisions")
  void fourBatchesOfSixteenEqualOneOfSixtyFour(int ranks, Precision precision, double tolerance)
      throws Exception {
    var large = BatchSource.global(POINTS, 64).shuffled(5);
    var oracle = run(World.solo(), precision, MLP, large, 2);
    var merged = ranks(ranks, precision, MLP, POINTS, merge(4, true, Tail.FLUSH));
    assertThat(merged.gradients()).hasSize(6);
    assertThat(GradientTap.distance(merged.gradients(), oracle.gradients()))
        .isLessThanOrEqualTo(tolerance);
  }

  @ParameterizedTest
  @MethodSource("ranksAndPrecisions")
  void maskedTokensOfUnequalLengthsEqualTheLargeBatch(
      int ranks, Precision precision, double tolerance) throws Exception {
    var sequences = new RaggedSequences(164);
    var large = BatchSource.global(sequences, 64).shuffled(5);
    var oracle = run(World.solo(), precision, new TokenModel(), large, 2);
    var merged = ranks(ranks, precision, new TokenModel(), sequences, merge(4, true, Tail.FLUSH));
    assertThat(GradientTap.distance(merged.gradients(), oracle.gradients()))
        .isLessThanOrEqualTo(tolerance);
  }

  @Test
  void sumsAreTheMeanTimesTheMicroStepsOfTheWindow() {
    var source = BatchSource.global(POINTS, 16).shuffled(5);
    var mean = run(World.solo(), Precision.FLOAT64, MLP, source, 1, merge(4, true, Tail.FLUSH));
    var sum = run(World.solo(), Precision.FLOAT64, MLP, source, 1, merge(4, false, Tail.FLUSH));
    var first = mean.gradients().getFirst();
    first.values().forEach(values -> java.util.Arrays.setAll(values, i -> 4 * values[i]));
    assertThat(GradientTap.distance(List.of(sum.gradients().getFirst()), List.of(first)))
        .isLessThanOrEqualTo(1e-12);
  }

  @Test
  void droppingLeavesTheTailOutAndSaysSo() {
    var whole = new ColouredPoints(128, 8, 4);
    var oracle = run(World.solo(), Precision.FLOAT64, MLP, BatchSource.global(whole, 64), 1);
    var source = BatchSource.global(POINTS, 16);
    var dropped = run(World.solo(), Precision.FLOAT64, MLP, source, 1, merge(4, true, Tail.DROP));
    assertThat(GradientTap.distance(dropped.gradients(), oracle.gradients())).isLessThan(1e-12);
    assertThat(dropped.notes())
        .anyMatch(note -> note.contains("3 of the 4 micro-steps") && note.contains("dropped"));
  }

  @Test
  void carryingGoesOnInTheNextEpoch() {
    // Two epochs of 11 micro-batches in order: 22 make 5 windows, and 2 are left at the end.
    var source = BatchSource.global(POINTS, 16);
    var carried = run(World.solo(), Precision.FLOAT64, MLP, source, 2, merge(4, true, Tail.CARRY));
    assertThat(carried.gradients()).hasSize(5);
    assertThat(carried.microSteps()).isEqualTo(22);
    assertThat(carried.notes()).anyMatch(note -> note.contains("go on in the next epoch"));
    // The window that straddles the epochs holds samples 128 to 163, then 0 to 15.
    var straddling = new ColouredPoints(164, 8, 4);
    var order = IntStream.concat(IntStream.range(0, 164), IntStream.range(0, 16)).boxed().toList();
    var oracle =
        run(
            World.solo(),
            Precision.FLOAT64,
            MLP,
            BatchSource.global(new Reordered(straddling, order), 64),
            1);
    assertThat(
            GradientTap.distance(
                carried.gradients().subList(0, 3), oracle.gradients().subList(0, 3)))
        .isLessThan(1e-12);
  }

  private record Reordered(Dataset data, List<Integer> order) implements Dataset {
    @Override
    public int size() {
      return order.size();
    }

    @Override
    public dev.flotilla.data.Batch load(int[] samples) {
      return data.load(java.util.Arrays.stream(samples).map(order::get).toArray());
    }
  }

  @Test
  void meansOfMicroBatchesDifferFromTermsOnlyWhereCountsDiffer() {
    var fleet =
        new GradientMerge(WindowLength.of(4), null, true, Tail.FLUSH, Weighting.MICRO_BATCHES);
    var source = BatchSource.global(POINTS, 16);
    var byTerms = run(World.solo(), Precision.FLOAT64, MLP, source, 1, merge(4, true, Tail.FLUSH));
    var byMeans = run(World.solo(), Precision.FLOAT64, MLP, source, 1, fleet);
    var fullWindows =
        GradientTap.distance(byMeans.gradients().subList(0, 2), byTerms.gradients().subList(0, 2));
    var tail =
        GradientTap.distance(
            List.of(byMeans.gradients().get(2)), List.of(byTerms.gradients().get(2)));
    assertThat(fullWindows).isLessThan(1e-12);
    assertThat(tail).isGreaterThan(1e-3);
  }

  @Test
  void oneExchangePerWindow() throws Exception {
    var merged = ranks(2, Precision.FLOAT32, MLP, POINTS, merge(4, true, Tail.FLUSH));
    assertThat(merged.microSteps()).isEqualTo(22);
    assertThat(merged.exchanges()).isEqualTo(6);
  }

  @Test
  void aScheduleChangesTheWindowAtItsUpdate() {
    var schedule =
        new GradientMerge(
            WindowLength.parse("1 then 4 from 3"), null, true, Tail.FLUSH, Weighting.TERMS);
    var source = BatchSource.global(POINTS, 16);
    var run = run(World.solo(), Precision.FLOAT32, MLP, source, 1, schedule);
    // 11 micro-batches: three windows of one, then two of four.
    assertThat(run.gradients()).hasSize(5);
  }

  @Test
  void ranksWithDifferentWindowsAreToldApartBeforeTheFirstStep() {
    var source = BatchSource.global(POINTS, 16);
    assertThatThrownBy(
            () ->
                Ranks.of(2)
                    .callWorlds(
                        world ->
                            run(
                                world,
                                Precision.FLOAT32,
                                MLP,
                                source,
                                1,
                                new GradientMerge(2 + world.rank()))))
        .isInstanceOf(RankFailure.class)
        .hasMessageContaining("strategy.gradient_merge.kSteps = 2, rank 1")
        .hasMessageContaining("has 3");
  }

  @Test
  void windowsFollowFromAStatedGlobalBatch() {
    var plan =
        builder(World.solo()).microBatch(16).strategy(GradientMerge.toGlobalBatch(64)).plan();
    assertThat(plan.step().describe(Phase.ACCUMULATION)).contains("windows of 64 samples");
    var source = BatchSource.global(POINTS, 16).shuffled(5);
    var stated = GradientMerge.toGlobalBatch(64);
    try (var trainer = builder(World.solo()).microBatch(16).strategy(stated).build()) {
      trainer.fit(source, 1);
      assertThat(trainer.updates()).isEqualTo(3);
    }
  }

  @Test
  void aGlobalBatchThatCannotBeReachedNamesTheNearestOnes() {
    var builder = builder(World.solo()).microBatch(16).strategy(GradientMerge.toGlobalBatch(100));
    assertThatThrownBy(builder::plan)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("global_batch 100 is no multiple of the 16 samples")
        .hasMessageContaining("use 96 or 112");
  }

  @Test
  void theRateGrowsWithTheMergedBatchWhereAsked() {
    var scaled = new Sgd(0.1, 0, LrScaling.LINEAR, 32);
    var merged =
        new GradientMerge(
            WindowLength.parse("1 then 4 from 1"), null, true, Tail.FLUSH, Weighting.TERMS);
    var builder = builder(World.solo()).optimizer(scaled).microBatch(16).strategy(merged);
    try (var trainer = builder.build();
        var _ = TensorScope.open()) {
      var batch = POINTS.load(new int[] {1, 2, 3});
      assertThat(trainer.step(batch).lr()).isEqualTo(0.05);
      for (int i = 0; i < 3; i++) {
        assertThat(trainer.step(batch).updated()).isFalse();
      }
      assertThat(trainer.step(batch).lr()).isEqualTo(0.2);
    }
  }

  @Test
  void adviceIsGivenOnceWhereTheRateIsNotScaled() {
    var plan = builder(World.solo()).strategy(new GradientMerge(4)).plan();
    assertThat(plan.warnings()).hasSize(1);
    assertThat(plan.warnings().toString()).contains("4 times larger", "scale_lr");
    var one = builder(World.solo()).strategy(new GradientMerge(1)).plan();
    assertThat(one.warnings().toString()).contains("no effect");
  }

  private static TrainerBuilder builder(World world) {
    return Trainer.on(world).model(MLP).optimizer(new Sgd(0.05)).threads(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "2.5", "four", "", "4 from 3", "2 then 3", "2 then 4 from 0"})
  void refusesWhatIsNoWindow(String text) {
    assertThatThrownBy(() -> WindowLength.parse(text))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(text);
  }

  @Test
  void writesASchedulesAsItIsRead() {
    var text = "1 then 4 from 100 then 8 from 1000";
    var length = WindowLength.parse(text);
    assertThat(length.text()).isEqualTo(text);
    assertThat(length.after(99)).isEqualTo(1);
    assertThat(length.after(100)).isEqualTo(4);
    assertThat(length.after(5000)).isEqualTo(8);
  }
}
