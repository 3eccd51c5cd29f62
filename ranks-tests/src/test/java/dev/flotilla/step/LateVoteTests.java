package dev.flotilla.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByValue;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.NormedPerceptron;
import dev.flotilla.testkit.PoisonedPoints;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.Every;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.NonFinite;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An update that the device leaves out, and of which the host hears later, ends as one it waits
 * for.
 */
class LateVoteTests {

  private static final ColouredPoints POINTS = new ColouredPoints(160, 8, 4);
  private static final int BATCH = 16;
  private static final int STEPS = 20;

  /** What a training comes to. */
  private record Seen(
      Snapshot values, long updates, List<Double> rates, List<TrainingEvent> events) {

    void isSameAs(Seen other) {
      assertThat(values.isSameAs(other.values)).isTrue();
      assertThat(updates).isEqualTo(other.updates);
      assertThat(rates).isEqualTo(other.rates);
      assertThat(events).isEqualTo(other.events);
    }
  }

  @AfterEach
  void asUsual() {
    LateVote.isUsedOnCpu = false;
  }

  private static <T> T late(Supplier<T> action) {
    LateVote.isUsedOnCpu = true;
    try {
      return action.get();
    } finally {
      LateVote.isUsedOnCpu = false;
    }
  }

  private static BatchSource source(float poison) {
    return BatchSource.global(
        new PoisonedPoints(POINTS, Set.of(3 * BATCH, 4 * BATCH, 9 * BATCH), poison), BATCH);
  }

  private static TrainerBuilder trainer(Optimizer optimizer, NonFinite policy, Strategy... with) {
    return Trainer.on(World.solo())
        .model(new NormedPerceptron(8, 16, 4))
        .optimizer(optimizer)
        .schedule(new Cosine())
        .strategy(with)
        .nonFinite(policy)
        .loop(LoopSettings.defaults().logEach(Every.updates(4)))
        .threads(1);
  }

  private static boolean isTimeless(TrainingEvent event) {
    return event instanceof TrainingEvent.Noted || event instanceof TrainingEvent.Saved;
  }

  static Stream<Arguments> kinds() {
    return Stream.of(
        Arguments.of(new Momentum(0.1, 0.9, true, 0.01), Float.NaN, new Strategy[0]),
        Arguments.of(new AdamW(0.01), Float.POSITIVE_INFINITY, new Strategy[0]),
        Arguments.of(
            new AdamW(0.01).withAmsgrad(), Float.NaN, new Strategy[] {new ClipByValue(0.1)}),
        Arguments.of(new AdamW(0.01), Float.NaN, new Strategy[] {new GradientMerge(2)}),
        Arguments.of(
            new AdamW(0.01),
            1e30f,
            new Strategy[] {new MixedPrecision(Dtype.FP16), new GradientMerge(2)}),
        Arguments.of(
            new Momentum(0.1, 0.9), 1e30f, new Strategy[] {new MixedPrecision(Dtype.FP16)}));
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void stepsEndWithTheSameBits(Optimizer optimizer, float poison, Strategy[] with) {
    stepped(optimizer, poison, with, false)
        .isSameAs(late(() -> stepped(optimizer, poison, with, true)));
  }

  private static Seen stepped(Optimizer optimizer, float poison, Strategy[] with, boolean isLate) {
    List<TrainingEvent> events = new ArrayList<>();
    List<StepOutcome> outcomes = new ArrayList<>();
    int late = 0;
    try (var trainer = trainer(optimizer, NonFinite.SKIP, with).events(events::add).build()) {
      trainer.plannedUpdates(STEPS);
      for (int i = 0; i < STEPS; i++) {
        var shard = source(poison).epoch(0, 0, 1);
        try (var _ = TensorScope.open()) {
          var outcome = trainer.step(shard.load(i % 10));
          late += outcome.isKnown() ? 0 : 1;
          outcomes.add(outcome);
        }
      }
      if (isLate) {
        assertThat(late).isGreaterThanOrEqualTo(with.length == 0 ? 10 : 3);
      } else {
        assertThat(late).isZero();
      }
      return new Seen(
          Snapshot.of(trainer),
          trainer.updates(),
          outcomes.stream().map(StepOutcome::lr).toList(),
          events.stream().filter(LateVoteTests::isTimeless).toList());
    }
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void fitsEndWithTheSameBitsAndCheckpoints(
      Optimizer optimizer, float poison, Strategy[] with, @TempDir Path folder) {
    fitted(optimizer, poison, with, NonFinite.SKIP, folder.resolve("host"))
        .isSameAs(
            late(() -> fitted(optimizer, poison, with, NonFinite.SKIP, folder.resolve("device"))));
  }

  @Test
  void rollbackGoesBackAtOnce(@TempDir Path folder) {
    var optimizer = new AdamW(0.01);
    var none = new Strategy[0];
    fitted(optimizer, Float.NaN, none, NonFinite.ROLLBACK, folder.resolve("host"))
        .isSameAs(
            late(
                () ->
                    fitted(
                        optimizer, Float.NaN, none, NonFinite.ROLLBACK, folder.resolve("device"))));
  }

  /** A second trainer goes on from what the first one has saved, where windows were left out. */
  private static Seen fitted(
      Optimizer optimizer, float poison, Strategy[] with, NonFinite policy, Path folder) {
    List<TrainingEvent> events = new ArrayList<>();
    for (int limit : new int[] {5, 12}) {
      var builder =
          trainer(optimizer, policy, with)
              .loop(LoopSettings.defaults().logEach(Every.updates(4)).endAfterUpdates(limit))
              .checkpoints(CheckpointSettings.in(folder).every(3))
              .events(events::add);
      try (var trainer = builder.build()) {
        trainer.resume(folder);
        trainer.fit(source(poison), 1);
        if (limit == 12) {
          return new Seen(
              Snapshot.of(trainer),
              trainer.updates(),
              List.of(),
              events.stream()
                  .filter(LateVoteTests::isTimeless)
                  .filter(it -> !it.toString().contains(folder.toString()))
                  .toList());
        }
      }
    }
    throw new IllegalStateException();
  }

  @Test
  void stopLeavesTheParametersOfBeforeAndNothingFollows() {
    LateVote.isUsedOnCpu = true;
    try (var trainer = trainer(new AdamW(0.01), NonFinite.STOP).build();
        var _ = TensorScope.open()) {
      var shard = source(Float.NaN).epoch(0, 0, 1);
      trainer.plannedUpdates(STEPS);
      for (int i = 0; i < 2; i++) {
        trainer.step(shard.load(i));
      }
      var before = Snapshot.of(trainer);
      assertThat(trainer.step(shard.load(3)).isKnown()).isFalse();
      assertThat(Snapshot.of(trainer).isSameAs(before)).isTrue();
      assertThatThrownBy(() -> trainer.step(shard.load(5)))
          .isInstanceOf(NumericalException.class)
          .hasMessageContaining("after update 2 the loss of rank 0 is not finite")
          .hasMessageContaining("nothing was updated");
      assertThat(trainer.updates()).isEqualTo(2);
      trainer.abandonStep();
      assertThat(Snapshot.of(trainer).isSameAs(before)).isTrue();
    }
  }

  @Test
  void theGradientsThatAreNotFiniteAreNamedLater() {
    LateVote.isUsedOnCpu = true;
    var amp = new MixedPrecision(Dtype.FP16, 1e38, 1000, 2, 2.0, 0.5, true);
    List<String> notes = new ArrayList<>();
    try (var trainer =
            trainer(new Momentum(0.1, 0.9), NonFinite.SKIP, amp)
                .events(event -> notes.add(event.toString()))
                .build();
        var _ = TensorScope.open()) {
      var shard = BatchSource.global(POINTS, BATCH).epoch(0, 0, 1);
      trainer.plannedUpdates(STEPS);
      var outcome = trainer.step(shard.load(0));
      assertThat(outcome.isKnown()).isFalse();
      assertThat(outcome.totals().count()).isEqualTo(BATCH);
      assertThat(outcome.isKnown()).isFalse();
      List<Boolean> heard = new ArrayList<>();
      outcome.whenKnown(it -> heard.add(it.updated()));
      assertThat(heard).isEmpty();
      assertThat(outcome.updated()).isFalse();
      assertThat(heard).containsExactly(false);
      assertThat(notes).anyMatch(it -> it.contains("a gradient overflowed, update skipped"));
      assertThat(trainer.updates()).isZero();
    }
  }
}
