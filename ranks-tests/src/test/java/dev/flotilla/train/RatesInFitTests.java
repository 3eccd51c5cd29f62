package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Linear;
import dev.flotilla.optim.Milestones;
import dev.flotilla.optim.Schedule;
import dev.flotilla.optim.ScheduleUnit;
import dev.flotilla.optim.Sgd;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.PlanRejectedException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.Clip;
import dev.flotilla.strategy.clip.ClipByValue;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.Rendezvous;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Schedules that count epochs or look at evaluations, and limits of each element. */
class RatesInFitTests {

  private static final ColouredPoints POINTS = new ColouredPoints(96, 8, 4);
  private static final double LR = 0.5;

  private static TrainerBuilder trainer(World world, Schedule schedule) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(9), 4))
        .optimizer(new Sgd(LR))
        .schedule(schedule)
        .precision(Precision.FLOAT64)
        .threads(1);
  }

  private static LoopSettings loop() {
    return LoopSettings.defaults().logEach(Every.updates(1)).evaluateOn(POINTS).each(Every.epoch());
  }

  /** Returns the rate of each update, two to an epoch. */
  private static List<Double> rates(TrainerBuilder builder, Path from, int epochs) {
    List<Double> rates = new ArrayList<>();
    builder.events(
        event -> {
          if (event instanceof TrainingEvent.Updated updated) {
            rates.add(updated.lr());
          }
        });
    builder.loop(loop());
    try (var trainer = builder.build()) {
      trainer.resume(from);
      trainer.fit(POINTS.batches(48).shuffled(1), epochs);
    }
    return rates;
  }

  @Test
  void aScheduleCountsEpochs(@TempDir Path nothing) {
    var falls = trainer(World.solo(), new Milestones(1L)).schedulePer(ScheduleUnit.EPOCH);
    assertThat(rates(falls, nothing, 3))
        .containsExactly(LR, LR, LR / 10, LR / 10, LR / 10, LR / 10);
    var line = trainer(World.solo(), new Linear(0, 0)).schedulePer(ScheduleUnit.EPOCH);
    assertThat(rates(line, nothing, 2)).containsExactly(LR, LR, LR / 2, LR / 2);
  }

  /** Nothing is better by 10⁹, so each evaluation after the first is one in vain. */
  private static TrainerBuilder onPlateau(Path folder) {
    return trainer(World.solo(), new Plateau("loss", StopWhen.Mode.MIN, 1, 1e9, 0.5, 0.2, 0))
        .checkpoints(CheckpointSettings.in(folder));
  }

  @Test
  void theRateFallsWhenEvaluationsGetNoBetter(@TempDir Path folder) {
    var whole = rates(onPlateau(folder.resolve("whole")), folder.resolve("whole"), 5);
    assertThat(whole)
        .containsExactly(LR, LR, LR, LR, LR / 2, LR / 2, LR / 4, LR / 4, LR * 0.2, LR * 0.2);
  }

  @Test
  void aRunThatGoesOnKnowsHowFarTheRateHasFallen(@TempDir Path folder) {
    try (var trainer = onPlateau(folder).loop(loop()).build()) {
      trainer.link(new StopsAfter(6));
      assertThatThrownBy(() -> trainer.fit(POINTS.batches(48).shuffled(1), 5))
          .isInstanceOf(StoppedException.class);
    }
    assertThat(rates(onPlateau(folder), folder, 5)).containsExactly(LR / 4, LR * 0.2, LR * 0.2);
  }

  @Test
  void aPlateauNeedsEvaluationsOfWhatItWatches() {
    assertThatThrownBy(() -> trainer(World.solo(), new Plateau("f2", 1)).loop(loop()).plan())
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("schedule.metric: 'f2' is not measured");
    try (var trainer = trainer(World.solo(), new Plateau("loss", 1)).build()) {
      assertThatThrownBy(() -> trainer.fit(POINTS.batches(48).shuffled(1), 1))
          .hasMessageContaining("schedule: looks at evaluations, but the loop has no test data");
      assertThatThrownBy(() -> step(trainer))
          .hasMessageContaining("would never fall in a loop of your own");
    }
    assertThatThrownBy(() -> new Plateau(" ", StopWhen.Mode.MIN, 0, -1, 1, 2, -1))
        .isInstanceOfSatisfying(ConfigException.class, e -> assertThat(e.problems()).hasSize(6));
  }

  private static void step(Trainer trainer) {
    try (var _ = TensorScope.open()) {
      var world = trainer.collective();
      trainer.step(
          POINTS
              .batches(48 / world.size())
              .shuffled(1)
              .epoch(0, world.rank(), world.size())
              .load(0));
    }
  }

  private static Snapshot afterOneUpdate(World world, Strategy... techniques) {
    try (var trainer = trainer(world, new Milestones(5L)).strategy(techniques).build()) {
      step(trainer);
      trainer.averageParameters();
      return Snapshot.of(trainer);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void eachElementOfTheMeanGradientIsLimited(int stage) {
    double most = 0.01;
    Strategy[] techniques =
        stage == 0
            ? new Strategy[] {new ClipByValue(most)}
            : new Strategy[] {new ClipByValue(most), new Sharding(stage)};
    var start = afterOneUpdate(World.solo(), new ClipByValue(1e-300));
    var plain = afterOneUpdate(World.solo());
    var limited = Ranks.of(2).callWorlds(world -> afterOneUpdate(world, techniques)).getFirst();
    int reached = 0;
    for (var name : start.values().keySet()) {
      var before = Objects.requireNonNull(start.values().get(name));
      for (int i = 0; i < before.length; i++) {
        double gradient = (before[i] - Objects.requireNonNull(plain.values().get(name))[i]) / LR;
        double expected = before[i] - LR * Math.clamp(gradient, -most, most);
        reached += Math.abs(gradient) > most ? 1 : 0;
        assertThat(Objects.requireNonNull(limited.values().get(name))[i])
            .isCloseTo(expected, within(1e-14));
      }
    }
    assertThat(reached).isGreaterThan(10);
  }

  @Test
  void whatKeepsResidualsRefusesALimitOfEachElement() {
    var world = new World(0, 2, 0, 2, 0, 1, new Rendezvous.SharedFile(Path.of("nowhere")));
    var builder =
        trainer(world, new Milestones(5L))
            .precision(Precision.FLOAT32)
            .strategy(new Dgc(), new ClipByValue(1));
    assertThatThrownBy(builder::plan)
        .isInstanceOf(PlanRejectedException.class)
        .hasMessageContaining("clip");
    assertThatThrownBy(() -> new Clip(1.0, 1.0)).hasMessageContaining("must state norm or value");
    assertThatThrownBy(() -> new Clip(null, -1.0)).hasMessageContaining("value: must be greater");
  }
}
