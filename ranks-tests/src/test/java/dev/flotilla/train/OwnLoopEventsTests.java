package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.NativeView;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.optim.Momentum;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.step.NumericalException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loops of the user's own say what a fit says, and do what they were asked for or refuse it. */
class OwnLoopEventsTests {

  private static final ColouredPoints POINTS = new ColouredPoints(120, 8, 4);
  private static final BatchSource BATCHES = BatchSource.global(POINTS, 10);

  @TempDir Path folder;

  private static TrainerBuilder mlp(World world) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(new Momentum(0.1, 0.9))
        .precision(Precision.FLOAT64)
        .loop(
            LoopSettings.defaults().logEach(Every.updates(3)).evaluateOn(POINTS).each(Every.end()))
        .threads(1);
  }

  /** Returns the events of two epochs, without times and without what only a fit has. */
  private List<TrainingEvent> eventsOf(String name, BiConsumer<Trainer, List<TrainingEvent>> run) {
    List<TrainingEvent> events = new ArrayList<>();
    var builder = mlp(World.solo()).checkpoints(CheckpointSettings.in(folder.resolve(name)));
    try (var trainer = builder.events(events::add).build()) {
      run.accept(trainer, events);
    }
    return events.stream().map(OwnLoopEventsTests::timeless).toList();
  }

  private static TrainingEvent timeless(TrainingEvent event) {
    return switch (event) {
      case TrainingEvent.Updated it ->
          new TrainingEvent.Updated(
              it.epoch(),
              it.update(),
              it.microSteps(),
              it.loss(),
              it.lr(),
              it.acc1(),
              it.acc5(),
              it.samplesPerSecond() > 0 ? 1 : 0);
      case TrainingEvent.Timed it -> {
        assertThat(it.seconds().get("forward")).isPositive();
        assertThat(it.seconds().get("backward")).isPositive();
        assertThat(it.seconds().get("update")).isPositive();
        yield new TrainingEvent.Timed(it.update(), Map.of(), 0, it.bytesSent(), it.density());
      }
      case TrainingEvent.EpochEnded it -> new TrainingEvent.EpochEnded(it.epoch(), it.updates(), 0);
      default -> event;
    };
  }

  @Test
  void stepsGiveTheEventsOfAFit() {
    var fit =
        eventsOf(
            "fit",
            (trainer, events) -> {
              trainer.fit(BATCHES, 2);
              events.removeIf(event -> !isOfSteps(event));
            });
    var own =
        eventsOf(
            "own",
            (trainer, _) -> {
              for (int epoch = 0; epoch < 2; epoch++) {
                var shard = BATCHES.epoch(epoch, 0, 1);
                for (int i = 0; i < shard.batches(); i++) {
                  try (var _ = TensorScope.open()) {
                    trainer.step(shard.load(i), i + 1 == shard.batches());
                  }
                }
              }
            });

    assertThat(own).containsExactlyElementsOf(fit);
    assertThat(own).filteredOn(TrainingEvent.Updated.class::isInstance).hasSize(8);
    assertThat(own).filteredOn(TrainingEvent.EpochEnded.class::isInstance).hasSize(2);
  }

  private static boolean isOfSteps(TrainingEvent event) {
    return event instanceof TrainingEvent.Updated
        || event instanceof TrainingEvent.Timed
        || event instanceof TrainingEvent.EpochEnded;
  }

  @Test
  void updatesEvaluationsAndSavesAreToldOf() {
    var events =
        eventsOf(
            "parts",
            (trainer, _) -> {
              var step = trainer.ownLoop().accumulating(2);
              var shard = BATCHES.epoch(0, 0, 1);
              for (int i = 0; i < 6; i++) {
                try (var _ = TensorScope.open()) {
                  step.add(shard.load(i));
                }
              }
              trainer.evaluate(POINTS);
              trainer.save();
              trainer.awaitSave();
            });

    assertThat(events)
        .hasExactlyElementsOfTypes(
            TrainingEvent.Timed.class,
            TrainingEvent.Updated.class,
            TrainingEvent.Evaluated.class,
            TrainingEvent.Saved.class);
    assertThat(((TrainingEvent.Updated) events.get(1)).microSteps()).isEqualTo(6);
    assertThat(((TrainingEvent.Evaluated) events.get(2)).update()).isEqualTo(3);
  }

  @Test
  void ranksAreComparedAsInAFit() {
    Ranks.of(3)
        .callWorlds(
            world -> {
              try (var trainer = mlp(world).compareEvery(2).build()) {
                if (world.rank() == 2) {
                  var memory = NativeView.of(trainer.model().parameter("fc2.weight"));
                  memory.set(
                      ValueLayout.JAVA_BYTE, 5, (byte) (memory.get(ValueLayout.JAVA_BYTE, 5) ^ 4));
                }
                var shard = BATCHES.epoch(0, world.rank(), 3);
                try (var _ = TensorScope.open()) {
                  trainer.step(shard.load(0));
                  assertThatThrownBy(() -> trainer.step(shard.load(1)))
                      .isInstanceOf(NumericalException.class)
                      .hasMessageContaining("rank 2 in fc");
                }
                return world.rank();
              }
            });
  }

  @Test
  void rollingBackIsRefusedBeforeTheFirstStep() {
    try (var trainer = mlp(World.solo()).nonFinite(NonFinite.ROLLBACK).build();
        var _ = TensorScope.open()) {
      var batch = BATCHES.epoch(0, 0, 1).load(0);
      assertThatThrownBy(() -> trainer.step(batch)).hasMessageContaining("which only fit can do");
      assertThatThrownBy(trainer::ownLoop).hasMessageContaining("set SKIP or STOP");
      assertThat(trainer.microSteps()).isZero();
    }
  }

  @Test
  void aLossFromAForwardPassOfTheUsersOwnIsRefusedWhereTechniquesWorkOnIt() {
    refusesOwnLoss(new MixedPrecision(Dtype.BF16), "bf16");
    refusesOwnLoss(Recompute.every(1), "recompute");
  }

  private static void refusesOwnLoss(Strategy technique, String named) {
    var builder = mlp(World.solo()).precision(Precision.FLOAT32).strategy(technique);
    try (var trainer = builder.build();
        var _ = TensorScope.open()) {
      var loss = trainer.model().parameter("fc1.weight").square().sum();
      var loop = trainer.ownLoop();
      assertThatThrownBy(() -> loop.backward(new LossTerms(loss, 5)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(named)
          .hasMessageContaining("call forwardBackward");
    }
  }

  @Test
  void warningsReachTheLogWhereNobodyElseIsTold() {
    List<String> logged = new ArrayList<>();
    var handler = new Listening(logged);
    var logger = Logger.getLogger("dev.flotilla");
    logger.addHandler(handler);
    try (var trainer = mlp(World.solo()).strategy(new LocalSgd(4)).build()) {
      assertThat(trainer.updates()).isZero();
    } finally {
      logger.removeHandler(handler);
    }
    assertThat(logged).anySatisfy(line -> assertThat(line).contains("localsgd").contains("rank"));
  }

  private static final class Listening extends Handler {

    private final List<String> lines;

    Listening(List<String> lines) {
      this.lines = lines;
    }

    @Override
    public void publish(LogRecord record) {
      lines.add(record.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
