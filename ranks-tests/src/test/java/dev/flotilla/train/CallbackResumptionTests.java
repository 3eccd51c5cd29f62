package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.state.RunState;
import dev.flotilla.step.StepOutcome;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A run whose callbacks act is the same to the bit, whether it was stopped and resumed or not. */
class CallbackResumptionTests {

  private static final ColouredPoints POINTS = new ColouredPoints(48, 8, 4);
  private static final BatchSource SOURCE = BatchSource.global(POINTS, 6).shuffled(7);

  private final List<String> events = new CopyOnWriteArrayList<>();
  @TempDir Path folder;

  /** Acts by numbers of its own, on one rank: without them, a resumed run would go another way. */
  private static final class Erratic implements Callback {

    private final boolean acts;
    private long steps;
    private long evaluations;
    private double worst;

    Erratic(World world) {
      acts = world.rank() == world.size() - 1;
    }

    @Override
    public void afterStep(LoopControl loop, StepOutcome outcome) {
      steps++;
      worst = Math.max(worst, outcome.totals().meanLoss());
      loop.log("worst", worst);
      if (acts && steps % 3 == 0) {
        loop.scaleLearningRate(0.8);
      }
      if (acts && steps % 5 == 2) {
        loop.evaluate();
      }
    }

    @Override
    public void afterEvaluation(LoopControl loop, Evaluation evaluation) {
      evaluations++;
      if (evaluations == 4) {
        loop.stop("seen enough");
      }
    }

    @Override
    public void remember(RunState state) {
      steps = state.shared().number("steps", steps);
      evaluations = state.shared().number("evaluations", evaluations);
      worst = state.shared().real("worst", worst);
    }
  }

  private TrainerBuilder builder(World world, String name, Strategy... techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(8), 4))
        .optimizer(new Momentum(0.05, 0.9))
        .strategy(techniques)
        .threads(1)
        .callbacks(new Erratic(world))
        .checkpoints(CheckpointSettings.in(folder.resolve(name)).every(100))
        .events(event -> listen(world, event))
        .loop(it -> it.evaluateOn(POINTS).also("again", POINTS).each(Every.end()));
  }

  private void listen(World world, TrainingEvent event) {
    boolean isOfTheRun =
        event instanceof TrainingEvent.Evaluated || event instanceof TrainingEvent.Logged;
    if (world.isLeader() && isOfTheRun) {
      events.add(event.toString());
    }
  }

  private record Outcome(Snapshot state, long updates, double rate, Object stopped, Object logged) {
    boolean isSameAs(Outcome other) {
      return state.isSameAs(other.state)
          && updates == other.updates
          && rate == other.rate
          && stopped.equals(other.stopped)
          && logged.equals(other.logged);
    }
  }

  private static Outcome fit(TrainerBuilder builder, Optional<Path> from) {
    try (var trainer = builder.build()) {
      from.ifPresent(path -> assertThat(trainer.resume(path)).isPresent());
      trainer.fit(SOURCE, 9);
      var facts = trainer.metrics();
      return new Outcome(
          Snapshot.of(trainer),
          trainer.updates(),
          trainer.parts().callbacks().learningRate(),
          String.valueOf(facts.get("stopped_early")),
          String.valueOf(facts.get("logged")));
    }
  }

  /** Stops while a request waits (after 3 and 2 steps), inside a window, and after an epoch. */
  @ParameterizedTest
  @CsvSource({
    "1, 1, 2",
    "1, 1, 1",
    "2, 1, 2",
    "2, 1, 11",
    "2, 2, 4",
    "2, 2, 5",
    "3, 1, 6",
    "1, 1, 7"
  })
  void aResumedRunIsTheSame(int ranks, int merged, long stopAfter) {
    Strategy[] techniques =
        merged == 1 ? new Strategy[0] : new Strategy[] {new GradientMerge(merged)};
    var whole =
        Ranks.of(ranks)
            .callWorlds(world -> fit(builder(world, "whole", techniques), Optional.empty()))
            .getFirst();
    var expected = new ArrayList<>(events);
    events.clear();
    Ranks.of(ranks)
        .callWorlds(
            world -> {
              try (var trainer = builder(world, "stopped", techniques).build()) {
                trainer.link(new StopsAfter(stopAfter));
                assertThatThrownBy(() -> trainer.fit(SOURCE, 9))
                    .isInstanceOf(StoppedException.class);
                return world;
              }
            });
    var from = Optional.of(folder.resolve("stopped"));
    var resumed =
        Ranks.of(ranks)
            .callWorlds(world -> fit(builder(world, "stopped", techniques), from))
            .getFirst();
    assertThat(whole.stopped()).isEqualTo("{reason=seen enough}");
    assertThat(resumed.isSameAs(whole)).isTrue();
    assertThat(events).isEqualTo(expected);
    // One that has ended stays where it is.
    var again =
        Ranks.of(ranks)
            .callWorlds(world -> fit(builder(world, "stopped", techniques), from))
            .getFirst();
    assertThat(again.isSameAs(whole)).isTrue();
  }

  /** Steps from one micro-batch of an epoch to another, and says where the run came to. */
  private static String steps(Trainer trainer, int from, int to) {
    for (int i = from; i < to; i++) {
      try (var _ = TensorScope.open()) {
        trainer.step(SOURCE.epoch(i / 8, 0, 1).load(i % 8), i % 8 == 7);
      }
    }
    return trainer.parts().callbacks().learningRate()
        + " "
        + trainer.stopAsked()
        + trainer.metrics().get("logged");
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 8, 9})
  void aLoopOfOnesOwnIsResumedTheSame(int saved) {
    Snapshot whole;
    String expected;
    try (var trainer = builder(World.solo(), "whole").build()) {
      expected = steps(trainer, 0, 20);
      whole = Snapshot.of(trainer);
    }
    var expectedEvents = new ArrayList<>(events);
    events.clear();
    try (var trainer = builder(World.solo(), "saved").build()) {
      steps(trainer, 0, saved);
      trainer.save();
      trainer.awaitSave();
    }
    try (var trainer = builder(World.solo(), "saved").build()) {
      assertThat(trainer.resume(folder.resolve("saved"))).isPresent();
      assertThat(steps(trainer, saved, 20)).isEqualTo(expected).contains("seen enough");
      assertThat(Snapshot.of(trainer).isSameAs(whole)).isTrue();
    }
    assertThat(events).isEqualTo(expectedEvents);
  }

  @Test
  void aRunWithoutCallbacksTakesUpNoneAndOneWithNewOnesGoesOn() {
    var plain =
        Trainer.on(World.solo())
            .model(new Mlp(8, List.of(8), 4))
            .optimizer(new Momentum(0.05, 0.9))
            .events(_ -> {})
            .checkpoints(CheckpointSettings.in(folder.resolve("plain")));
    try (var trainer = plain.build()) {
      trainer.fit(SOURCE, 1);
    }
    try (var trainer = builder(World.solo(), "next").build()) {
      assertThat(trainer.resume(folder.resolve("plain"))).isPresent();
      assertThat(trainer.parts().callbacks().learningRate()).isEqualTo(0.05);
    }
    fit(builder(World.solo(), "acting"), Optional.empty());
    try (var trainer = plain.checkpoints(null).build()) {
      assertThat(trainer.resume(folder.resolve("acting"))).isPresent();
      assertThat(trainer.stopAsked()).isEmpty();
      // The rate that callbacks have left is part of the run.
      assertThat(trainer.parts().callbacks().learningRate()).isLessThan(0.05);
    }
  }
}
