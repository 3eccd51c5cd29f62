package dev.flotilla.strategy.localsgd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.InstanceOfAssertFactories.map;

import dev.flotilla.collective.Traffic;
import dev.flotilla.data.Batch;
import dev.flotilla.data.Dataset;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.RecordingCollective;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Every;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.RunSummary;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Scalar;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is averaged when, over which wire, and what of it shows. */
class AveragingTests {

  private static final ColouredPoints POINTS = new ColouredPoints(480, 8, 4);

  private static TrainerBuilder trainer(World world, Strategy... with) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(new Momentum(0.05, 0.9))
        .strategy(with)
        .threads(1);
  }

  private static TrainerBuilder fitting(World world, Every evaluateEvery, Strategy... with) {
    return trainer(world, with)
        .compareEvery(7)
        .loop(
            LoopSettings.defaults()
                .evaluateOn(POINTS)
                .each(evaluateEvery)
                .inBatchesOf(64)
                .endAfterUpdates(30));
  }

  private record Fitted(
      Snapshot weights,
      double evaluated,
      double after,
      long bytes,
      double loss,
      Map<String, Object> metrics,
      List<TrainingEvent.Averaged> rounds) {}

  private static Fitted fit(World world, Every evaluateEvery, Strategy... with) {
    List<TrainingEvent.Averaged> rounds = new ArrayList<>();
    var builder =
        fitting(world, evaluateEvery, with)
            .events(
                event -> {
                  if (event instanceof TrainingEvent.Averaged round) {
                    rounds.add(round);
                  }
                });
    try (var trainer = builder.build()) {
      var result = trainer.fit(POINTS.batches(16).shuffled(7), 1);
      return new Fitted(
          Snapshot.of(trainer),
          result.evaluation().orElseThrow().loss(),
          trainer.evaluate(POINTS).loss(),
          trainer.sent(Traffic.EXCHANGE).bytesSent(),
          result.loss(),
          RunSummary.of(trainer, result, 1, Map.of()),
          rounds);
    }
  }

  private static List<Fitted> fit(int ranks, Every evaluateEvery, Strategy... with) {
    return Ranks.of(ranks).callWorlds(world -> fit(world, evaluateEvery, with));
  }

  private static LocalSgd local(
      int k, Dtype wire, boolean overlap, @Nullable OuterOptimizer outer) {
    return new LocalSgd(k, 1, MomentumPolicy.LOCAL, wire, overlap, AveragingGroup.RANK, outer);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRunThatEndsInMidRoundEndsOnTheAverageThatItWasEvaluatedOn(boolean overlap) {
    var ranks = fit(2, Every.end(), local(8, Dtype.FP32, overlap, null));
    assertThat(ranks.get(0).weights().isSameAs(ranks.get(1).weights())).isTrue();
    assertThat(ranks.get(0).evaluated()).isEqualTo(ranks.get(0).after());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void evaluatingInMidRoundChangesNothing(boolean overlap) {
    var technique = local(8, Dtype.INT8, overlap, null);
    var seldom = fit(2, Every.end(), technique).getFirst();
    var often = fit(2, Every.updates(3), technique).getFirst();
    assertThat(often.weights().isSameAs(seldom.weights())).isTrue();
    assertThat(often.bytes()).isEqualTo(seldom.bytes());
  }

  @Test
  void ranksWaitLongerForEachOtherAfterALongRound() {
    var waits =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  List<RecordingCollective> recorded = new ArrayList<>();
                  var builder =
                      trainer(world, new LocalSgd(2))
                          .timeout(Duration.ofSeconds(4))
                          .collective(
                              group -> {
                                recorded.add(new RecordingCollective(group));
                                return recorded.getFirst();
                              });
                  try (var trainer = builder.build()) {
                    var shard = POINTS.batches(16).epoch(0, world.rank(), world.size());
                    for (int i = 0; i < 3; i++) {
                      try (var _ = TensorScope.open()) {
                        trainer.step(shard.load(i));
                      }
                      Thread.sleep(i == 1 ? 900 : 0);
                    }
                  }
                  return recorded.getFirst().calls(Traffic.EXCHANGE).getLast().timeout();
                });
    assertThat(waits).allMatch(wait -> wait.compareTo(Duration.ofSeconds(8)) >= 0);
  }

  @Test
  void anOuterStepOfLengthOneIsTheAverage() {
    var plain = fit(2, Every.end(), local(1, Dtype.FP32, false, null)).getFirst();
    var sgd = new OuterOptimizer(OuterRule.SGD, 1, 0);
    var outer = fit(2, Every.end(), local(1, Dtype.FP32, false, sgd)).getFirst();
    assertThat(outer.weights().isSameAs(plain.weights())).isTrue();
    var nesterov = new OuterOptimizer(OuterRule.NESTEROV, 1, 0);
    var same = fit(2, Every.end(), local(1, Dtype.FP32, false, nesterov)).getFirst();
    assertThat(same.weights().isSameAs(plain.weights())).isTrue();
  }

  @ParameterizedTest
  @EnumSource(Dtype.class)
  void anOuterOptimizerLearnsOverEveryWire(Dtype wire) {
    var nesterov = new OuterOptimizer(OuterRule.NESTEROV, 0.7, 0.6);
    var ranks = fit(3, Every.end(), local(5, wire, false, nesterov));
    var dense = fit(3, Every.end()).getFirst();
    assertThat(ranks.get(0).weights().isSameAs(ranks.get(2).weights())).isTrue();
    assertThat(ranks.getFirst().evaluated()).isLessThan(1.5 * dense.evaluated());
  }

  @Test
  void narrowWiresSendWhatTheySay() {
    long full = fit(2, Every.end(), local(5, Dtype.FP32, false, null)).getFirst().bytes();
    long bf16 = fit(2, Every.end(), local(5, Dtype.BF16, false, null)).getFirst().bytes();
    assertThat(2 * bf16).isEqualTo(full);
    long fp16 = fit(2, Every.end(), local(5, Dtype.FP16, false, null)).getFirst().bytes();
    assertThat(fp16).isBetween(bf16, bf16 + 6 * 8);
    long int8 = fit(2, Every.end(), local(5, Dtype.INT8, false, null)).getFirst().bytes();
    long int4 = fit(2, Every.end(), local(5, Dtype.INT4, false, null)).getFirst().bytes();
    // 224 elements on two ranks are padded to two slices of 512.
    assertThat(int8).isEqualTo(6 * 2 * (512 + 2 * 4));
    assertThat(int4).isEqualTo(6 * 2 * (256 + 2 * 4));
  }

  @Test
  void comingARoundLateStillLearns() {
    var now = fit(2, Every.end(), local(4, Dtype.FP32, false, null)).getFirst();
    var late = fit(2, Every.end(), local(4, Dtype.FP32, true, null)).getFirst();
    assertThat(late.weights().isSameAs(now.weights())).isFalse();
    assertThat(late.evaluated()).isLessThan(1.5 * now.evaluated());
  }

  @Test
  void oneRoundLateMeansTheMeanOfTheRoundBefore() {
    // After update 1 all are equal; 5 sends w₅ on its way; at 9 its mean arrives.
    var technique = local(4, Dtype.FP32, true, null);
    var alone = new LocalSgd(1000);
    var late = Ranks.of(2).callWorlds(world -> steps(world, 9, technique));
    var free = Ranks.of(2).callWorlds(world -> steps(world, 9, alone));
    for (int rank = 0; rank < 2; rank++) {
      for (var name : late.get(rank).getLast().values().keySet()) {
        double[] actual = at(late.get(rank), 9, name);
        double[] departed = at(free.get(rank), 5, name);
        double[] others = at(free.get(1 - rank), 5, name);
        double[] expected = at(free.get(rank), 9, name).clone();
        Arrays.setAll(expected, i -> expected[i] + (others[i] - departed[i]) / 2);
        assertThat(actual).containsExactly(expected, within(1e-5));
      }
    }
  }

  private static double[] at(List<Snapshot> path, int update, String name) {
    return Objects.requireNonNull(path.get(update - 1).values().get(name));
  }

  private static List<Snapshot> steps(World world, int updates, Strategy... with) {
    List<Snapshot> snapshots = new ArrayList<>();
    try (var trainer = trainer(world, with).build()) {
      var shard = POINTS.batches(16).shuffled(7).epoch(0, world.rank(), world.size());
      for (int i = 0; i < updates; i++) {
        try (var _ = TensorScope.open()) {
          trainer.step(shard.load(i % shard.batches()));
        }
        snapshots.add(Snapshot.of(trainer));
      }
    }
    return snapshots;
  }

  /** Four ranks on two hosts of two. */
  private static World onTwoHosts(World world) {
    int rank = world.rank();
    return new World(rank, 4, rank % 2, 2, rank / 2, 2, world.rendezvous());
  }

  @ParameterizedTest
  @EnumSource(
      value = Dtype.class,
      names = {"FP32", "INT8"})
  void hostsStayTogetherAtEveryUpdateAndMeetAtAverages(Dtype wire) {
    var technique =
        new LocalSgd(4, 1, MomentumPolicy.LOCAL, wire, false, AveragingGroup.HOST, null);
    var paths = Ranks.of(4).callWorlds(world -> steps(onTwoHosts(world), 9, technique));
    for (int update = 1; update <= 9; update++) {
      assertThat(isSame(paths.get(0), paths.get(1), update)).isTrue();
      assertThat(isSame(paths.get(2), paths.get(3), update)).isTrue();
      assertThat(isSame(paths.get(0), paths.get(2), update)).isEqualTo(update % 4 == 1);
    }
  }

  private static boolean isSame(List<Snapshot> one, List<Snapshot> other, int update) {
    return one.get(update - 1).isSameAs(other.get(update - 1));
  }

  @Test
  void oneHostAloneIsSynchronousTraining() {
    var technique =
        new LocalSgd(4, 1, MomentumPolicy.LOCAL, Dtype.FP32, false, AveragingGroup.HOST, null);
    var one = Ranks.of(2).callWorlds(world -> steps(world, 9, technique)).getFirst();
    var plain = Ranks.of(2).callWorlds(world -> steps(world, 9)).getFirst();
    assertThat(one.getLast().isSameAs(plain.getLast())).isTrue();
  }

  @Test
  void aRankThatLeavesAnUpdateOutStaysInStep() {
    var poisoned = new Poisoned(POINTS, 100);
    var technique = new LocalSgd(4);
    var ends =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer =
                      fitting(world, Every.end(), technique).nonFinite(NonFinite.SKIP).build()) {
                    trainer.fit(poisoned.batches(16).shuffled(7), 1);
                    return new Ended(Snapshot.of(trainer), trainer.updates());
                  }
                });
    assertThat(ends.get(0).weights().isSameAs(ends.get(1).weights())).isTrue();
    assertThat(ends.get(0).updates()).isEqualTo(30).isEqualTo(ends.get(1).updates());
    ends.getFirst()
        .weights()
        .values()
        .values()
        .forEach(values -> assertThat(Arrays.stream(values)).allMatch(Double::isFinite));
  }

  private record Ended(Snapshot weights, long updates) {}

  /** One sample is not a number. */
  private record Poisoned(Dataset data, int sample) implements Dataset {
    @Override
    public int size() {
      return data.size();
    }

    @Override
    public Batch load(int[] samples) {
      var batch = data.load(samples);
      if (Arrays.stream(samples).anyMatch(s -> s == sample)) {
        batch.inputs().getFirst().mul_(new Scalar(Double.NaN));
      }
      return batch;
    }
  }

  @Test
  void anotherNumberOfRanksGoesOnFromTheAverageAndSaysSo(@TempDir Path folder) {
    var technique = new LocalSgd(8);
    var saved = Ranks.of(3).callWorlds(world -> saveInMidRound(world, folder, technique));
    double[] mean = new double[saved.getFirst().length];
    Arrays.setAll(mean, i -> saved.stream().mapToDouble(values -> values[i]).average().orElse(0));
    List<String> notes = Collections.synchronizedList(new ArrayList<>());
    var resumed =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = noting(trainer(world, technique), notes).build()) {
                    assertThat(trainer.resume(folder)).isPresent();
                    return parameters(trainer);
                  }
                });
    assertThat(resumed.get(0)).containsExactly(mean, within(1e-6)).isEqualTo(resumed.get(1));
    assertThat(notes).anyMatch(note -> note.contains("goes on from the average"));
  }

  private static TrainerBuilder noting(TrainerBuilder builder, List<String> notes) {
    return builder.events(
        event -> {
          if (event instanceof TrainingEvent.Noted(var text)) {
            notes.add(text);
          }
        });
  }

  private static double[] saveInMidRound(World world, Path folder, Strategy technique) {
    var builder = trainer(world, technique).checkpoints(CheckpointSettings.in(folder));
    try (var trainer = builder.build()) {
      var shard = POINTS.batches(16).shuffled(7).epoch(0, world.rank(), world.size());
      for (int i = 0; i < 5; i++) {
        try (var _ = TensorScope.open()) {
          trainer.step(shard.load(i % shard.batches()));
        }
      }
      var before = parameters(trainer);
      trainer.save();
      trainer.awaitSave();
      assertThat(parameters(trainer)).as("saving changes nothing").isEqualTo(before);
      return before;
    }
  }

  private static double[] parameters(Trainer trainer) {
    var values = NativeView.of(trainer.model().arena().values()).toArray(ValueLayout.JAVA_FLOAT);
    return IntStream.range(0, values.length).mapToDouble(i -> values[i]).toArray();
  }

  @Test
  void roundsAndTheirDriftAreOnRecord() {
    var run = fit(2, Every.end(), new LocalSgd(4)).getFirst();
    assertThat(run.rounds())
        .extracting(TrainingEvent.Averaged::update)
        .containsExactly(5L, 9L, 13L, 17L, 21L, 25L, 29L);
    assertThat(run.rounds())
        .allSatisfy(
            round -> {
              assertThat(round.interval()).isEqualTo(4);
              assertThat(round.driftMean()).isPositive();
              assertThat(round.loss()).isPositive();
              assertThat(round.driftLargest()).isGreaterThanOrEqualTo(round.driftMean());
            });
    assertThat(run.metrics())
        .extractingByKey("localsgd", map(String.class, Object.class))
        .containsEntry("averages", 8L)
        .containsEntry("interval_from_update", List.of(List.of(1L, 1L), List.of(5L, 4L)))
        .containsKeys("largest_drift", "waiting");
  }

  @Test
  void theAdaptiveIntervalIsTheSameOnAllRanksAndFollowsTheLoss() {
    var technique = new AdaptiveLocalSgd(9, IntervalRule.FLEET);
    var ranks = fit(2, Every.end(), technique);
    var updates = ranks.getFirst().rounds().stream().map(TrainingEvent.Averaged::update).toList();
    assertThat(ranks.get(1).rounds())
        .extracting(TrainingEvent.Averaged::update)
        .containsExactlyElementsOf(updates);
    assertThat(updates.getFirst()).isEqualTo(10);
    assertThat(ranks.getFirst().rounds().get(1).interval()).as("about √9").isBetween(1L, 4L);
    assertThat(ranks.getFirst().rounds().getFirst().loss()).isPositive();
  }
}
