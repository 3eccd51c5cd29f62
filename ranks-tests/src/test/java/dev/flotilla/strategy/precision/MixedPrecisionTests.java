package dev.flotilla.strategy.precision;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.memory.Tensors;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Polynomial;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.step.NumericalException;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
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
import java.util.function.ObjIntConsumer;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loss scales, overflows, and what stays float32. */
class MixedPrecisionTests {

  private static final int INPUTS = 8;
  private static final float HUGE = 3e4f;

  private static MixedPrecision fp16(double scale, int grow, int shrink) {
    return new MixedPrecision(Dtype.FP16, scale, grow, shrink, 2.0, 0.8, true);
  }

  private static TrainerBuilder trainer(World world, List<String> notes, Strategy... techniques) {
    return Trainer.on(world)
        .model(new Mlp(INPUTS, List.of(16), 4))
        .optimizer(new Momentum(0.01, 0.9))
        .schedule(new Polynomial(0, 1, 0))
        .strategy(techniques)
        .nonFinite(NonFinite.SKIP)
        .events(
            event -> {
              if (event instanceof TrainingEvent.Noted(var text)) {
                notes.add(text);
              }
            })
        .threads(1);
  }

  /** Inputs that a 16-bit matrix product overflows on, if they are huge. */
  private static Batch batch(int samples, float size) {
    var input = Tensors.empty(torch.ScalarType.Float, samples, INPUTS);
    var memory = NativeView.of(input);
    for (long i = 0; i < input.numel(); i++) {
      memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, size * (float) Math.sin(0.7 * i));
    }
    long[] targets = new long[samples];
    for (int i = 0; i < samples; i++) {
      targets[i] = i % 4;
    }
    return new Batch(List.of(input), Tensors.ofLongs(targets), samples);
  }

  private static boolean step(Trainer trainer, int samples, float size) {
    try (var _ = TensorScope.open()) {
      return trainer.step(batch(samples, size)).updated();
    }
  }

  @Test
  void twoOverflowsInARowShrinkTheScaleAndGoodWindowsLetItGrow() {
    List<String> notes = new ArrayList<>();
    // A scale that overflows fp16 in backward of every batch.
    try (var trainer = trainer(World.solo(), notes, fp16(32768, 3, 2)).build()) {
      trainer.plannedUpdates(100);
      assertThat(step(trainer, 4, HUGE)).isFalse();
      assertThat(step(trainer, 4, HUGE)).isFalse();
      assertThat(notes).last().asString().contains("2 so far").contains("26214.4");
      for (int i = 0; i < 3; i++) {
        assertThat(step(trainer, 4, 1)).isTrue();
      }
      assertThat(step(trainer, 4, HUGE)).isFalse();
      assertThat(notes).last().asString().contains("52428.8");
      assertThat(trainer.updates()).isEqualTo(3);
    }
  }

  /** Huge inputs overflow in forward already; a huge scale overflows in backward alone. */
  @Test
  void aLossThatIsNotFiniteStopsTheRunAndAGradientThatOverflowsDoesNot() {
    var builder = trainer(World.solo(), new ArrayList<>(), fp16(1e9, 1000, 2));
    try (var trainer = builder.nonFinite(NonFinite.STOP).build()) {
      trainer.plannedUpdates(100);
      assertThat(step(trainer, 4, 1)).isFalse();
      assertThatThrownBy(() -> step(trainer, 4, 100 * HUGE))
          .isInstanceOf(NumericalException.class)
          .hasMessageContaining("the loss of rank 0 is not finite");
    }
  }

  @Test
  void anOverflowBetweenGoodWindowsDoesNotCountAsTwo() {
    List<String> notes = new ArrayList<>();
    try (var trainer = trainer(World.solo(), notes, fp16(32768, 1000, 2)).build()) {
      trainer.plannedUpdates(100);
      for (int i = 0; i < 3; i++) {
        step(trainer, 4, HUGE);
        step(trainer, 4, 1);
      }
      assertThat(notes).last().asString().contains("3 so far").contains("32768.0");
    }
  }

  @Test
  void anOverflowOnOneRankSkipsTheUpdateOnAllOfThemTruly() {
    var disturbed =
        onTwoRanks(
            fp16(32768, 1000, 2),
            (trainer, rank) -> {
              step(trainer, 4, 1);
              var before = Snapshot.of(trainer);
              assertThat(step(trainer, 4, rank == 1 ? HUGE : 1)).isFalse();
              assertThat(trainer.updates()).isEqualTo(1);
              assertThat(Snapshot.of(trainer).isSameAs(before)).isTrue();
              step(trainer, 4, 1);
            });
    var undisturbed =
        onTwoRanks(
            fp16(32768, 1000, 2),
            (trainer, _) -> {
              step(trainer, 4, 1);
              step(trainer, 4, 1);
            });
    assertThat(disturbed.get(0).isSameAs(disturbed.get(1))).isTrue();
    assertThat(disturbed.get(0).isSameAs(undisturbed.get(0))).isTrue();
  }

  /** Does the same on two ranks, and returns what each holds in the end. */
  private static List<Snapshot> onTwoRanks(
      @Nullable MixedPrecision half, ObjIntConsumer<Trainer> steps) {
    return Ranks.of(2)
        .callWorlds(
            world -> {
              Strategy[] techniques = half == null ? new Strategy[0] : new Strategy[] {half};
              try (var trainer = trainer(world, new ArrayList<>(), techniques).build()) {
                trainer.plannedUpdates(100);
                steps.accept(trainer, world.rank());
                return Snapshot.of(trainer);
              }
            });
  }

  @Test
  void aSumOverManyTermsDoesNotOverflowWhereItsMeanWouldNot() {
    List<String> notes = new ArrayList<>();
    try (var trainer = trainer(World.solo(), notes, new MixedPrecision(Dtype.FP16)).build()) {
      trainer.plannedUpdates(100);
      assertThat(step(trainer, 30_000, 1)).isTrue();
      assertThat(notes).noneMatch(note -> note.contains("overflow"));
    }
  }

  @Test
  void ranksOfVeryDifferentSizesAgreeInTheirFirstWindow() {
    ObjIntConsumer<Trainer> steps = (trainer, rank) -> step(trainer, rank == 0 ? 2 : 300, 1);
    var outcomes = onTwoRanks(new MixedPrecision(Dtype.FP16), steps);
    var single = onTwoRanks(null, steps);
    assertThat(outcomes.get(0).isSameAs(outcomes.get(1))).isTrue();
    assertThat(outcomes.get(0).relativeDistance(single.get(0))).isLessThan(2e-3);
  }

  /** With the scale of a window of one, the next window of 64 would overflow. */
  @Test
  void theWindowAfterAShortOneIsScaledAsThoseBefore() {
    List<String> notes = new ArrayList<>();
    try (var trainer = trainer(World.solo(), notes, fp16(1 << 17, 1000, 2)).build()) {
      trainer.plannedUpdates(100);
      assertThat(step(trainer, 64, 1)).isTrue();
      assertThat(step(trainer, 1, 1)).isTrue();
      assertThat(step(trainer, 64, 1)).isTrue();
    }
  }

  /** In its first window each rank has guessed the scale by its own batch. */
  @Test
  void aFirstWindowThatIsResumedByAnotherNumberOfRanksHasOneScale(@TempDir Path folder) {
    Ranks.of(2)
        .callWorlds(
            world -> {
              try (var trainer = saving(world, folder)) {
                step(trainer, world.rank() == 0 ? 2 : 300, 1);
                trainer.save();
                trainer.awaitSave();
                return world.rank();
              }
            });
    try (var resumed = saving(World.solo(), folder);
        var single = trainer(World.solo(), new ArrayList<>(), new GradientMerge(3)).build()) {
      assertThat(resumed.resume(folder)).isPresent();
      assertThat(step(resumed, 4, 1)).isTrue();
      single.plannedUpdates(100);
      step(single, 2, 1);
      step(single, 300, 1);
      assertThat(step(single, 4, 1)).isTrue();
      var distance = Snapshot.of(resumed).relativeDistance(Snapshot.of(single));
      assertThat(distance).isLessThan(2e-3);
    }
  }

  private static Trainer saving(World world, Path folder) {
    var half = new MixedPrecision(Dtype.FP16);
    var trainer =
        trainer(world, new ArrayList<>(), new GradientMerge(2), half)
            .checkpoints(CheckpointSettings.in(folder))
            .build();
    trainer.plannedUpdates(100);
    return trainer;
  }

  @Test
  void theScaleNeverFallsBelowOneAndARunThatCannotGoOnEnds() {
    List<String> notes = new ArrayList<>();
    try (var trainer = trainer(World.solo(), notes, fp16(2, 1000, 1)).build()) {
      trainer.plannedUpdates(100);
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < 50; i++) {
                  step(trainer, 4, 1e30f);
                }
              })
          .isInstanceOf(NumericalException.class)
          .hasMessageContaining("in a row were skipped")
          .hasMessageContaining("bf16");
      assertThat(notes).noneMatch(note -> note.contains("loss scale 0"));
    }
  }

  @Test
  void bf16StaysCloseToFloat32AndKeepsFloat32Parameters() {
    for (var techniques : List.of(List.<Strategy>of(), List.<Strategy>of(new GradientMerge(2)))) {
      var half = new ArrayList<>(techniques);
      half.add(new MixedPrecision(Dtype.BF16));
      var plain = train(techniques.toArray(Strategy[]::new));
      var bf16 = train(half.toArray(Strategy[]::new));
      assertThat(bf16.isSameAs(plain)).isFalse();
      assertThat(bf16.relativeDistance(plain)).isLessThan(2e-2);
    }
  }

  private static Snapshot train(Strategy... techniques) {
    try (var trainer = trainer(World.solo(), new ArrayList<>(), techniques).build()) {
      trainer.plannedUpdates(100);
      for (int i = 0; i < 10; i++) {
        step(trainer, 8, 1);
      }
      return Snapshot.of(trainer);
    }
  }

  @Test
  void float64AndUselessSettingsAreNamed() {
    assertThatThrownBy(
            () ->
                trainer(World.solo(), new ArrayList<>(), new MixedPrecision(Dtype.BF16))
                    .precision(Precision.FLOAT64)
                    .plan())
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("float64");
    var scaled = new MixedPrecision(Dtype.BF16, 1024, 1000, 2, 2.0, 0.8, true);
    assertThat(trainer(World.solo(), new ArrayList<>(), scaled).plan().warnings())
        .anySatisfy(issue -> assertThat(issue.toString()).contains("needs no loss scale"));
  }

  @Test
  void impossibleSettingsAreRefusedTogether() {
    assertThatThrownBy(() -> new MixedPrecision(Dtype.FP16, 0.5, 0, 0, 1, 1, true))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("init_loss_scaling")
        .hasMessageContaining("incr_every_n_steps")
        .hasMessageContaining("decr_every_n_nan_or_inf")
        .hasMessageContaining("incr_ratio")
        .hasMessageContaining("decr_ratio");
    assertThatThrownBy(() -> new MixedPrecision(Dtype.INT8))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("dtype: must be bf16 or fp16, but was int8");
  }
}
