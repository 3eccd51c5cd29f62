package dev.flotilla.strategy.compress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.step.Claim;
import dev.flotilla.step.StepContext;
import dev.flotilla.step.Workers;
import dev.flotilla.strategy.Property;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compressed runs on several ranks, compared with what they must equal. */
class DgcTests {

  private static final ColouredPoints POINTS = new ColouredPoints(4000, 8, 4);
  private static final int BATCH = 8;

  /** Compression that leaves the velocity of what was sent as it is. */
  private record Unmasked(Dgc dgc) implements Strategy {
    @Override
    public String key() {
      return "dgc";
    }

    @Override
    public List<Claim> claims() {
      return dgc.claims();
    }

    @Override
    public Workers workers(StepContext context) {
      return dgc.workers(context, false);
    }

    @Override
    public Set<Property> properties() {
      return dgc.properties();
    }
  }

  private static Dgc dgc(long denseUpdates, double... sparsity) {
    var fractions = IntStream.range(0, sparsity.length).mapToObj(i -> sparsity[i]).toList();
    return new Dgc(denseUpdates, 10, fractions).minNumel(32);
  }

  private static TrainerBuilder trainer(World world, Optimizer optimizer, Strategy... techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(optimizer)
        .strategy(techniques)
        .nonFinite(NonFinite.SKIP)
        .threads(1);
  }

  private static Batch batch(int step, int rank) {
    return POINTS.load(
        IntStream.range(0, BATCH).map(i -> (step * 64 + rank * BATCH + i) % 4000).toArray());
  }

  private static void step(Trainer trainer, int step, int rank) {
    try (var _ = TensorScope.open()) {
      trainer.step(batch(step, rank));
    }
  }

  private static List<Snapshot> train(
      int ranks, int steps, Optimizer optimizer, Strategy... techniques) {
    return Ranks.of(ranks)
        .callWorlds(
            world -> {
              try (var trainer = trainer(world, optimizer, techniques).build()) {
                for (int i = 0; i < steps; i++) {
                  step(trainer, i, world.rank());
                }
                return Snapshot.of(trainer);
              }
            });
  }

  /** Also across the change from dense to compressed, where the velocity is handed over. */
  @ParameterizedTest
  @CsvSource({
    "0, 0.9, false, 0",
    "7, 0.9, false, 0",
    "7, 0.9, true, 0",
    "0, 0.9, true, 0.01",
    "7, 0.5, true, 0.01",
    "7, 0.9, false, 0.01",
  })
  void everythingSentWithoutMaskingIsMomentum(
      int denseUpdates, double momentum, boolean nesterov, double decay) {
    var optimizer = new Momentum(0.05, momentum, nesterov, decay);
    var plain = train(2, 20, optimizer);
    var compressed = train(2, 20, optimizer, new Unmasked(dgc(denseUpdates, 0)));
    assertThat(compressed.getFirst().relativeDistance(plain.getFirst())).isLessThan(1e-5);
  }

  @Test
  void everythingSentWithMaskingIsDescentWithoutMomentumForLargeParameters() {
    var compressed = train(2, 1, new Momentum(0.05, 0.9), dgc(0, 0)).getFirst();
    var plain = train(2, 1, new Sgd(0.05)).getFirst();
    assertThat(compressed.relativeDistance(plain)).isLessThan(1e-6);
    // All parameters are large now, so that nothing keeps a velocity.
    var ten = train(2, 10, new Momentum(0.05, 0.9), dgc(0, 0).minNumel(1)).getFirst();
    var tenPlain = train(2, 10, new Sgd(0.05)).getFirst();
    assertThat(ten.relativeDistance(tenPlain)).isLessThan(1e-5);
  }

  @Test
  void theDensePhaseIsPlainMomentumToTheBit() {
    var optimizer = new Momentum(0.05, 0.9, true, 0.01);
    var plain = train(2, 6, optimizer).getFirst();
    assertThat(train(2, 6, optimizer, dgc(6, 0.9)).getFirst().isSameAs(plain)).isTrue();
    assertThat(train(2, 6, optimizer, dgc(5, 0.9)).getFirst().isSameAs(plain)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4})
  void ranksHoldTheSameBitsAfterAHundredSteps(int ranks) {
    var settings = dgc(5, 0.5, 0.75, 0.9).sending(Dtype.FP16, IndexFormat.PACKED);
    var all = train(ranks, 100, new Momentum(0.05, 0.9, false, 1e-4), settings);
    assertThat(all).allSatisfy(one -> assertThat(one.isSameAs(all.getFirst())).isTrue());
  }

  @Test
  void bucketsAndMergedStepsWorkAndRanksStayAlike() {
    var fused =
        new FuseAllReduce(1e-4, 1, 0, true, new FuseAllReduce().plan(), new FuseAllReduce().wire());
    var all = train(2, 30, new Momentum(0.05, 0.9), dgc(3, 0.75), fused, new GradientMerge(2));
    assertThat(all.get(0).isSameAs(all.get(1))).isTrue();
  }

  /** Two ranks with the same gradient: each clips to c / √2, so that the sum has norm c √2. */
  @Test
  void eachRankClipsItsOwnGradient() {
    double norm = 0.01;
    var moves =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  var builder = trainer(world, new Sgd(1), dgc(0, 0), new ClipByNorm(norm)).build();
                  try (var trainer = builder) {
                    var before = Snapshot.of(trainer);
                    step(trainer, 3, 0);
                    return before.distance(Snapshot.of(trainer));
                  }
                });
    assertThat(moves.getFirst()).isCloseTo(norm * Math.sqrt(2), within(1e-3));
  }

  private static org.assertj.core.data.Offset<Double> within(double fraction) {
    return org.assertj.core.data.Offset.offset(fraction * 0.014);
  }

  /** What a poisoned window leaves behind is nothing: the run goes on as if it had not been. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nothingThatIsNotFiniteReachesAResidual(boolean half) {
    List<Strategy> techniques = new ArrayList<>(List.of(dgc(2, 0.75)));
    if (half) {
      techniques.add(new MixedPrecision(Dtype.FP16, 1024, 1000, 1000, 2, 0.8, true));
    }
    var clean = withPoison(techniques, -1, 0);
    for (float poison : new float[] {Float.NaN, Float.POSITIVE_INFINITY, 1e30f}) {
      var poisoned = withPoison(techniques, 8, poison);
      assertThat(poisoned.get(0).isSameAs(poisoned.get(1))).isTrue();
      assertThat(poisoned.getFirst().isSameAs(clean.getFirst()))
          .as("%s", poison)
          .isEqualTo(half || !(poison < Float.POSITIVE_INFINITY));
    }
  }

  private static List<Snapshot> withPoison(List<Strategy> techniques, int at, float poison) {
    return Ranks.of(2)
        .callWorlds(
            world -> {
              var optimizer = new Momentum(0.05, 0.9);
              var strategies = techniques.toArray(Strategy[]::new);
              try (var trainer = trainer(world, optimizer, strategies).build()) {
                for (int i = 0; i < 16; i++) {
                  if (i == at) {
                    poisonedStep(trainer, world.rank(), poison);
                  }
                  step(trainer, i, world.rank());
                }
                return Snapshot.of(trainer);
              }
            });
  }

  private static void poisonedStep(Trainer trainer, int rank, float poison) {
    try (var _ = TensorScope.open()) {
      var batch = batch(100, rank);
      if (rank == 1) {
        NativeView.of(batch.inputs().getFirst()).setAtIndex(ValueLayout.JAVA_FLOAT, 5, poison);
      }
      trainer.step(batch);
    }
  }

  /** Residuals are parts of sums, so that another number of ranks takes them up. */
  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void anotherNumberOfRanksGoesOn(int ranks, @TempDir Path folder) {
    var optimizer = new Momentum(0.05, 0.9);
    var settings = dgc(2, 0.75);
    var saved =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  var builder =
                      trainer(world, optimizer, settings)
                          .checkpoints(CheckpointSettings.in(folder));
                  try (var trainer = builder.build()) {
                    for (int i = 0; i < 8; i++) {
                      step(trainer, i, world.rank());
                    }
                    trainer.save();
                    trainer.awaitSave();
                    return Snapshot.of(trainer);
                  }
                })
            .getFirst();
    var resumed =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  var builder =
                      trainer(world, optimizer, settings)
                          .checkpoints(CheckpointSettings.in(folder));
                  try (var trainer = builder.build()) {
                    assertThat(trainer.resume(folder)).isPresent();
                    assertThat(Snapshot.of(trainer).isSameAs(saved)).isTrue();
                    for (int i = 8; i < 12; i++) {
                      step(trainer, i, world.rank());
                    }
                    return Snapshot.of(trainer);
                  }
                });
    assertThat(resumed).allSatisfy(one -> assertThat(one.isSameAs(resumed.getFirst())).isTrue());
    assertThat(resumed.getFirst().isSameAs(saved)).isFalse();
  }
}
