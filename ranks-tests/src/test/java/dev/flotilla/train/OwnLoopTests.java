package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.collective.Traffic;
import dev.flotilla.data.Batch;
import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.Precision;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.model.LossTerms;
import dev.flotilla.optim.Momentum;
import dev.flotilla.report.LossMonitor;
import dev.flotilla.report.TimeMonitor;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnLoopTests {

  private static final ColouredPoints POINTS = new ColouredPoints(120, 8, 4);

  private static TrainerBuilder mlp(World world) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(new Momentum(0.1, 0.9))
        .precision(Precision.FLOAT64)
        .threads(1);
  }

  private static Snapshot largeBatches(int size) {
    try (var trainer = mlp(World.solo()).build()) {
      trainer.fit(BatchSource.global(POINTS, size), 1);
      return Snapshot.of(trainer);
    }
  }

  @Test
  void forwardBackwardUpdateEqualsTheLargeBatch() {
    try (var trainer = mlp(World.solo()).build()) {
      var loop = trainer.ownLoop();
      var shard = BatchSource.global(POINTS, 10).epoch(0, 0, 1);
      for (int i = 0; i < 12; i++) {
        try (var _ = TensorScope.open()) {
          loop.forwardBackward(shard.load(i));
        }
        if (i % 4 == 3) {
          assertThat(loop.update().updated()).isTrue();
        }
      }
      assertThat(Snapshot.of(trainer).relativeDistance(largeBatches(40))).isLessThan(1e-13);
    }
  }

  @Test
  void theParameterStaysForThreeIterationsAndMovesAtTheFourth() {
    try (var trainer = mlp(World.solo()).build()) {
      var step = trainer.ownLoop().accumulating(4);
      var shard = BatchSource.global(POINTS, 10).epoch(0, 0, 1);
      List<Boolean> moved = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        var before = Snapshot.of(trainer);
        try (var _ = TensorScope.open()) {
          step.add(shard.load(i));
        }
        moved.add(!Snapshot.of(trainer).isSameAs(before));
      }
      assertThat(moved).containsExactly(false, false, false, true, false, false, false, true);
    }
  }

  @Test
  void aTrainerThatWasSavedAfterTwoOfFourMicroBatchesUpdatesAfterTwoMore(@TempDir Path folder) {
    try (var whole = mlp(World.solo()).build()) {
      var settings = CheckpointSettings.in(folder);
      assertThat(add(whole, 0, 4)).containsExactly(false, false, false, true);
      try (var trainer = mlp(World.solo()).checkpoints(settings).build()) {
        add(trainer, 0, 2);
        trainer.save();
        trainer.awaitSave();
      }
      try (var trainer = mlp(World.solo()).checkpoints(settings).build()) {
        assertThat(trainer.resume(folder)).isPresent();
        assertThatThrownBy(() -> trainer.ownLoop().accumulating(4).run(Batch.empty()))
            .hasMessageContaining("2 micro-batches are waiting");
        assertThat(add(trainer, 2, 4)).containsExactly(false, true);
        assertThat(Snapshot.of(trainer).isSameAs(Snapshot.of(whole))).isTrue();
      }
    }
  }

  /** Tells after which micro-batches there was an update. */
  private static List<Boolean> add(Trainer trainer, int from, int to) {
    var step = trainer.ownLoop().accumulating(4);
    var shard = BatchSource.global(POINTS, 10).epoch(0, 0, 1);
    List<Boolean> updated = new ArrayList<>();
    for (int i = from; i < to; i++) {
      try (var _ = TensorScope.open()) {
        updated.add(step.add(shard.load(i)).isPresent());
      }
    }
    return updated;
  }

  @Test
  void oneLargeBatchInPartsWithARaggedLastOneEqualsItself() {
    try (var trainer = mlp(World.solo()).build()) {
      var step = trainer.ownLoop().accumulating(7);
      var shard = BatchSource.global(POINTS, 40).epoch(0, 0, 1);
      for (int i = 0; i < 3; i++) {
        try (var _ = TensorScope.open()) {
          step.run(shard.load(i));
        }
      }
      assertThat(trainer.microSteps()).isEqualTo(21);
      assertThat(Snapshot.of(trainer).relativeDistance(largeBatches(40))).isLessThan(1e-13);
    }
  }

  @Test
  void clearThrowsAwayWhatWasAccumulated() {
    try (var trainer = mlp(World.solo()).build();
        var _ = TensorScope.open()) {
      var loop = trainer.ownLoop();
      loop.forwardBackward(POINTS.load(new int[] {1, 2, 3}));
      loop.clear();
      var before = Snapshot.of(trainer);
      assertThat(loop.update().updated()).isFalse();
      assertThat(Snapshot.of(trainer).isSameAs(before)).isTrue();
    }
  }

  @Test
  void onlyTheUpdateCommunicates() throws Exception {
    var counts =
        Ranks.of(2)
            .callWorlds(
                world -> {
                  try (var trainer = mlp(world).build();
                      var _ = TensorScope.open()) {
                    var loop = trainer.ownLoop();
                    var shard = BatchSource.global(POINTS, 10).epoch(0, world.rank(), 2);
                    List<Long> counted = new ArrayList<>();
                    try (var _ = loop.noSync()) {
                      for (int i = 0; i < 3; i++) {
                        loop.forwardBackward(shard.load(i));
                        counted.add(trainer.collective().count(Traffic.EXCHANGE).operations());
                      }
                    }
                    loop.update();
                    counted.add(trainer.collective().count(Traffic.EXCHANGE).operations());
                    return counted;
                  }
                });
    assertThat(counts.getFirst()).containsExactly(0L, 0L, 0L, 1L);
  }

  @Test
  void anUpdateInsideNoSyncIsRefused() {
    try (var trainer = mlp(World.solo()).build()) {
      var loop = trainer.ownLoop();
      try (var _ = loop.noSync()) {
        assertThatThrownBy(loop::update)
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("inside noSync");
      }
    }
  }

  @Test
  void aStretchOfNoSyncEndsOnceHoweverOftenItIsClosed() {
    try (var trainer = mlp(World.solo()).build()) {
      var loop = trainer.ownLoop();
      var outer = loop.noSync();
      var inner = loop.noSync();
      inner.close();
      inner.close();
      assertThat(loop.isInsideNoSync()).isTrue();
      outer.close();
      assertThat(loop.isInsideNoSync()).isFalse();
    }
  }

  @Test
  void aLossWithoutACountIsRefused() {
    try (var trainer = mlp(World.solo()).build();
        var _ = TensorScope.open()) {
      var weight = trainer.model().parameter("fc1.weight");
      var loop = trainer.ownLoop();
      assertThatThrownBy(() -> loop.backward(new LossTerms(weight.square().sum(), 0)))
          .hasMessageContaining("states no terms");
      assertThatThrownBy(() -> new LossTerms(torch.ones(3), 3))
          .hasMessageContaining("single number");
      assertThat(loop.backward(new LossTerms(weight.square().sum(), 5)).count()).isEqualTo(5);
    }
  }

  @Test
  void windowsHaveOneOwner() {
    try (var trainer = mlp(World.solo()).strategy(new GradientMerge(2)).build()) {
      assertThatThrownBy(trainer::ownLoop).hasMessageContaining("already decides when to update");
    }
    try (var trainer = mlp(World.solo()).build()) {
      assertThatThrownBy(() -> trainer.ownLoop().accumulating(0))
          .isInstanceOf(ConfigException.class)
          .hasMessageContaining("must be at least 1, but was 0");
    }
  }

  @Test
  void emptyBatchesSplitIntoNothing() {
    assertThat(Batch.empty().split(3)).isEmpty();
  }

  @Test
  void monitorsPrintLossAndTime() {
    var bytes = new ByteArrayOutputStream();
    var out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    var builder = mlp(World.solo()).events(new LossMonitor(out).and(new TimeMonitor(out)));
    try (var trainer = builder.build()) {
      trainer.fit(POINTS.batches(12), 1);
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .containsPattern("epoch: 1 step: 10, loss is \\d\\.\\d{6}")
        .containsPattern("epoch time: [\\d.]+ ms, per step time: [\\d.]+ ms");
  }
}
