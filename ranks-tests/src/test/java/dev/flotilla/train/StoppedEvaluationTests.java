package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.checkpoint.Restorer;
import dev.flotilla.checkpoint.SavedCheckpoint;
import dev.flotilla.control.FlightRecorder;
import dev.flotilla.control.JobLink;
import dev.flotilla.data.BatchSource;
import dev.flotilla.optim.Momentum;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A stop that comes while a run evaluates does not wait for the evaluation's end. */
class StoppedEvaluationTests {

  private static final ColouredPoints POINTS = new ColouredPoints(48, 8, 4);
  private static final int UPDATES = 8;

  @TempDir Path folder;
  private final List<Long> evaluated = Collections.synchronizedList(new ArrayList<>());

  /** Rank 1 alone learns of the stop in time, at the n-th evaluation. */
  private static final class StopsInEvaluation implements JobLink {

    private final int evaluation;
    private final boolean isTold;
    private int evaluations;

    StopsInEvaluation(int evaluation, boolean isTold) {
      this.evaluation = evaluation;
      this.isTold = isTold;
    }

    @Override
    public void begin(long index, long updates) {}

    @Override
    public boolean stopsAfter(long index) {
      return false;
    }

    @Override
    public boolean isStopDecided() {
      return isTold && evaluations == evaluation;
    }

    @Override
    public void doing(String activity) {
      evaluations += activity.equals("evaluating") ? 1 : 0;
    }

    @Override
    public FlightRecorder collectives() {
      return JobLink.none().collectives();
    }

    @Override
    public void close() {}
  }

  private Trainer trainer(World world, String name, Every evaluateEvery) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(8), 4))
        .optimizer(new Momentum(0.05, 0.9))
        .threads(1)
        .checkpoints(CheckpointSettings.in(folder.resolve(name)).every(4))
        .events(event -> listen(world, event))
        .loop(
            LoopSettings.defaults()
                .evaluateOn(POINTS)
                .each(evaluateEvery)
                .inBatchesOf(4)
                .endAfterUpdates(UPDATES))
        .build();
  }

  private void listen(World world, TrainingEvent event) {
    if (world.isLeader() && event instanceof TrainingEvent.Evaluated evaluation) {
      evaluated.add(evaluation.update());
    }
  }

  private static BatchSource source() {
    return BatchSource.global(POINTS, 8).shuffled(7);
  }

  /** Between updates, at the end of an epoch of six updates, and at the end of the run. */
  @ParameterizedTest
  @ValueSource(strings = {"2", "epoch", "end"})
  void savesAndMakesUpForItLater(String when) {
    var every = Every.parse(when);
    var whole =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, "whole", every)) {
                    trainer.fit(source(), 1);
                    return Snapshot.of(trainer);
                  }
                })
            .getFirst();
    var expected = List.copyOf(evaluated);
    evaluated.clear();
    long stopped =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, "stopped", every)) {
                    trainer.link(new StopsInEvaluation(1, world.rank() == 1));
                    assertThatThrownBy(() -> trainer.fit(source(), 1))
                        .isInstanceOf(StoppedException.class);
                    return trainer.updates();
                  }
                })
            .getFirst();
    assertThat(stopped).isEqualTo(expected.getFirst());
    assertThat(evaluated).isEmpty();
    var newest = Restorer.candidates(folder.resolve("stopped")).getFirst();
    assertThat(SavedCheckpoint.positionOf(newest).updates()).isEqualTo(stopped);

    var resumed =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = trainer(world, "stopped", every)) {
                    assertThat(trainer.resume(folder.resolve("stopped"))).isPresent();
                    trainer.fit(source(), 1);
                    return Snapshot.of(trainer);
                  }
                })
            .getFirst();
    assertThat(resumed.isSameAs(whole)).isTrue();
    assertThat(evaluated).isEqualTo(expected);
  }
}
