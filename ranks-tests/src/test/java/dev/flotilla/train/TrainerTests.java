package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.checkpoint.PublishedWeights;
import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.collective.AgreementException;
import dev.flotilla.collective.Traffic;
import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Model;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Sgd;
import dev.flotilla.optim.TorchOptimizer;
import dev.flotilla.pass.ModelException;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.merge.Tail;
import dev.flotilla.strategy.merge.Weighting;
import dev.flotilla.strategy.merge.WindowLength;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.RankFailure;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.RecordingCollective;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.bytedeco.pytorch.BatchNorm1dImpl;
import org.bytedeco.pytorch.BatchNormOptions;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TrainerTests {

  /** 105 samples in batches of 12: the last one holds 9, so some of 12 ranks would get none. */
  private static final ColouredPoints RAGGED = new ColouredPoints(105, 8, 4);

  private static TrainerBuilder mlp(World world) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(new Momentum(0.1, 0.9))
        .threads(1);
  }

  private static Snapshot fit(TrainerBuilder builder, BatchSource source, int epochs) {
    try (var trainer = builder.build()) {
      trainer.fit(source, epochs);
      return Snapshot.of(trainer);
    }
  }

  @ParameterizedTest
  @CsvSource({"2, FLOAT32, 1e-6", "3, FLOAT32, 1e-6", "2, FLOAT64, 1e-13", "4, FLOAT64, 1e-13"})
  void severalRanksEqualOneAlsoWithARaggedTail(int ranks, Precision precision, double tolerance)
      throws Exception {
    var source = BatchSource.global(RAGGED, 12).shuffled(3);
    var one = fit(mlp(World.solo()).precision(precision), source, 3);
    var several =
        Ranks.of(ranks).callWorlds(world -> fit(mlp(world).precision(precision), source, 3));
    for (var each : several) {
      assertThat(each.isSameAs(several.getFirst())).isTrue();
    }
    assertThat(several.getFirst().relativeDistance(one)).isLessThan(tolerance);
  }

  @Test
  void aRankWithoutSamplesTakesPartWithZeros() throws Exception {
    var source = BatchSource.global(new ColouredPoints(14, 8, 4), 12);
    var one = fit(mlp(World.solo()).precision(Precision.FLOAT64), source, 2);
    var four =
        Ranks.of(4)
            .callWorlds(world -> fit(mlp(world).precision(Precision.FLOAT64), source, 2))
            .getFirst();
    assertThat(four.relativeDistance(one)).isLessThan(1e-13);
  }

  @Test
  void exactlyOneExchangePerUpdateAndNothingElse() throws Exception {
    var counts =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = mlp(world).build()) {
                    trainer.fit(RAGGED.batches(10), 1);
                    return trainer.collective().count(Traffic.EXCHANGE);
                  }
                });
    assertThat(counts.getFirst().operations()).isEqualTo(6);
  }

  @Test
  void ranksWaitForTheOneThatConvertsTheirFirstWeightsAsLongAsThatMayTake(@TempDir Path folder) {
    try (var trainer = mlp(World.solo()).checkpoints(CheckpointSettings.in(folder)).build()) {
      trainer.save();
      trainer.awaitSave();
    }
    Path saved = Restorer.candidates(folder).getFirst().resolve("model.safetensors");
    var waits =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  List<RecordingCollective> recorded = new ArrayList<>();
                  var builder =
                      mlp(world)
                          .initialWeights(new InitialWeights(saved, true))
                          .collective(
                              group -> {
                                recorded.add(new RecordingCollective(group));
                                return recorded.getFirst();
                              });
                  try (var _ = builder.build()) {
                    return recorded.getFirst().calls(Traffic.START).getFirst().timeout();
                  }
                });
    assertThat(waits).allMatch(wait -> wait.compareTo(PublishedWeights.LONGEST_CONVERSION) > 0);
  }

  @Test
  void aFitThatCouldNeverMakeAnUpdateIsRefused() {
    var dropping = new GradientMerge(WindowLength.of(12), null, true, Tail.DROP, Weighting.TERMS);
    try (var trainer = mlp(World.solo()).strategy(dropping).build()) {
      assertThatThrownBy(() -> trainer.fit(RAGGED.batches(10), 3))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("no update is ever made: an epoch has 11 micro-steps");
    }
  }

  @Test
  void aWindowWithoutSamplesUpdatesNothingAndSaysSo() {
    List<TrainingEvent> events = new ArrayList<>();
    try (var trainer = mlp(World.solo()).events(events::add).build()) {
      var before = Snapshot.of(trainer);
      var outcome = trainer.step(Batch.empty());
      assertThat(outcome.updated()).isFalse();
      assertThat(trainer.updates()).isZero();
      assertThat(Snapshot.of(trainer).isSameAs(before)).isTrue();
    }
    assertThat(events.toString()).contains("no rank had a loss term");
  }

  @Test
  void frozenParametersStayAndOthersMove() {
    var builder = mlp(World.solo()).freeze(name -> name.startsWith("fc1"));
    try (var trainer = builder.build()) {
      var before = Snapshot.of(trainer);
      trainer.fit(RAGGED.batches(15), 1);
      var after = Snapshot.of(trainer);
      assertThat(after.relativeDistance("fc1.weight", before)).isZero();
      assertThat(after.relativeDistance("fc1.bias", before)).isZero();
      assertThat(after.relativeDistance("fc2.weight", before)).isGreaterThan(1e-3);
    }
  }

  @Test
  void adamwDecaysWeightsOnlyUnlessAPatternSaysOtherwise() {
    var optimizer = new AdamW(0.1, List.of(0.9, 0.999), 1e-8, 0.5);
    assertThat(shrinkage(mlp(World.solo()).optimizer(optimizer), "fc2.weight")).isLessThan(1);
    assertThat(shrinkage(mlp(World.solo()).optimizer(optimizer), "fc2.bias")).isEqualTo(1);
    var everywhere = mlp(World.solo()).optimizer(optimizer).noDecay(_ -> false);
    assertThat(shrinkage(everywhere, "fc2.bias")).isLessThan(1);
  }

  /** Updates once with gradients of zero and returns by what factor a parameter changed. */
  private static double shrinkage(TrainerBuilder builder, String name) {
    try (var trainer = builder.build();
        var update =
            dev.flotilla.step.OptimizerUpdate.ofAll(
                trainer.model().arena(),
                new dev.flotilla.step.UpdateSettings(
                    builder.settings().optimizer(), builder.settings().noDecay()))) {
      double before = first(Snapshot.of(trainer).values(), name);
      update.apply(0.1);
      return first(Snapshot.of(trainer).values(), name) / before;
    }
  }

  @Test
  void aLibtorchOptimizerTrainsAsOursDoes() {
    var theirs =
        new TorchOptimizer(0.1, 0, (p, _) -> new org.bytedeco.pytorch.SGD(p, new SGDOptions(0.1)));
    var source = RAGGED.batches(15).shuffled(1);
    var ours = fit(mlp(World.solo()).optimizer(new Sgd(0.1)), source, 2);
    var wrapped = fit(mlp(World.solo()).optimizer(theirs), source, 2);
    assertThat(wrapped.isSameAs(ours)).isTrue();
  }

  @Test
  void anOwnLoopMustSayHowManyUpdatesItPlansWhereTheScheduleAsks() {
    try (var trainer = mlp(World.solo()).schedule(new Cosine(0, 0)).build();
        var _ = TensorScope.open()) {
      var batch = RAGGED.load(new int[] {0, 1});
      assertThatThrownBy(() -> trainer.step(batch))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("plannedUpdates");
    }
  }

  @Test
  void aModelThatDoesNotFitTheDataSaysWhichSegment() {
    var narrow = mlp(World.solo()).model(new Mlp(7, List.of(16), 4));
    try (var trainer = narrow.build()) {
      assertThatThrownBy(() -> trainer.fit(RAGGED.batches(5), 1))
          .isInstanceOf(ModelException.class)
          .hasMessageStartingWith("segment fc1 cannot take input of shape 5x8: mat1 and mat2");
    }
    var fewClasses = mlp(World.solo()).model(new Mlp(8, List.of(16), 2));
    try (var trainer = fewClasses.build()) {
      assertThatThrownBy(() -> trainer.fit(RAGGED.batches(5), 1))
          .isInstanceOf(ModelException.class)
          .hasMessageContaining("the loss cannot take outputs of shape 5x2")
          .hasMessageContaining("out of bounds");
    }
  }

  @Test
  void aSecondFitGoesOnWithTheNextEpoch() {
    var source = RAGGED.batches(15).shuffled(1);
    var once = fit(mlp(World.solo()), source, 2);
    try (var trainer = mlp(World.solo()).build()) {
      trainer.fit(source, 1);
      trainer.fit(source, 1);
      assertThat(Snapshot.of(trainer).isSameAs(once)).isTrue();
    }
  }

  @Test
  void ranksWithDifferentModelsAreToldApartBeforeTheFirstStep() {
    assertThatThrownBy(
            () ->
                Ranks.of(2)
                    .callWorlds(
                        world -> {
                          var model = new Mlp(8, List.of(16 + world.rank()), 4);
                          try (var trainer = mlp(world).model(model).build()) {
                            return trainer.updates();
                          }
                        }))
        .isInstanceOf(RankFailure.class)
        .hasCauseInstanceOf(AgreementException.class)
        .hasMessageContaining("parameters.layout");
  }

  /** A user's module with a normalisation and a layer that its forward never uses. */
  private static final class OwnModule extends Module {
    private final LinearImpl in = register_module("in", new LinearImpl(8, 16));
    private final BatchNorm1dImpl norm =
        register_module("norm", new BatchNorm1dImpl(new BatchNormOptions(16)));
    private final LinearImpl out = register_module("out", new LinearImpl(16, 4));

    @SuppressWarnings("unused") // registered, and never reached by forward
    private final LinearImpl spare = register_module("spare", new LinearImpl(2, 2));

    Tensor forward(Tensor x) {
      return out.forward(norm.forward(in.forward(x)).relu());
    }
  }

  private static Model model(OwnModule module) {
    return Model.of(module, (x, _) -> module.forward(x), new Classification());
  }

  @Test
  void aUsersModuleTrainsAsOneSegmentAndItsUnusedParametersAreNamedOnce() {
    List<TrainingEvent> events = new ArrayList<>();
    try (var module = new OwnModule()) {
      var builder = mlp(World.solo()).model(model(module)).events(events::add);
      try (var trainer = builder.build()) {
        double before = trainer.evaluate(RAGGED).loss();
        var result = trainer.fit(RAGGED.batches(15).shuffled(1), 10);
        assertThat(result.trainer().evaluate(RAGGED).loss()).isLessThan(before / 2);
        assertThat(Snapshot.of(trainer).values()).containsKey("norm.running_mean");
      }
    }
    var notes = events.stream().filter(TrainingEvent.Noted.class::isInstance).toList();
    assertThat(notes).hasSize(1);
    assertThat(notes.toString()).contains("spare.weight, spare.bias");
  }

  @Test
  void runningStatisticsAreAveragedByCountAndEvaluationDoesNotChangeThem() throws Exception {
    var means =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var module = new OwnModule();
                      var trainer = mlp(world).model(model(module)).build()) {
                    // 15 samples a batch: rank 0 sees 7 of each, rank 1 sees 8.
                    trainer.fit(BatchSource.global(RAGGED, 15), 1);
                    var own = Snapshot.of(trainer).values().get("norm.running_mean");
                    trainer.evaluate(RAGGED);
                    var afterwards = Snapshot.of(trainer).values().get("norm.running_mean");
                    trainer.averageStatistics();
                    var average = Snapshot.of(trainer).values().get("norm.running_mean");
                    return Map.of("own", own, "afterwards", afterwards, "average", average);
                  }
                });
    var first = means.get(0);
    var second = means.get(1);
    assertThat(first.get("afterwards")).containsExactly(first.get("own"));
    assertThat(first.get("average")).containsExactly(second.get("average"));
    double expected = (7 * first(first, "own") + 8 * first(second, "own")) / 15;
    assertThat(first(first, "average")).isCloseTo(expected, within(1e-6));
    assertThat(first(first, "own")).isNotCloseTo(first(second, "own"), within(1e-6));
  }

  private static double first(Map<String, double[]> values, String name) {
    return Objects.requireNonNull(values.get(name), name)[0];
  }
}
