package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.Momentum;
import dev.flotilla.optim.Optimizer;
import dev.flotilla.optim.Sgd;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.settings.ByteSize;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.clip.ClipByNorm;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.testkit.Snapshot;
import dev.flotilla.train.Every;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where slices lie changes no number. */
class OffloadTests {

  private static final ColouredPoints POINTS = new ColouredPoints(96, 8, 4);
  private static final int UPDATES = 8;

  @TempDir(factory = TempDirFactory.Standard.class)
  private Path folder;

  static Stream<Arguments> placements() {
    var adam = new AdamW(1e-2);
    var three = new Sharding(3);
    return Stream.of(
        Arguments.of(1, adam, three.withOffload(Offload.OPTIMIZER)),
        Arguments.of(1, adam, three.withOffload(Offload.OPTIMIZER_AND_PARAMETERS)),
        Arguments.of(1, new Sgd(0.1, 1e-3), three.withOffload(Offload.OPTIMIZER_AND_PARAMETERS)),
        Arguments.of(3, adam, three.withOffload(Offload.OPTIMIZER)),
        Arguments.of(3, adam, three.withOffload(Offload.OPTIMIZER_AND_PARAMETERS)),
        Arguments.of(2, new Momentum(0.1, 0.9), three.withPlacement(Placement.AUTO)),
        Arguments.of(2, adam, new Sharding(1).withOffload(Offload.OPTIMIZER)),
        Arguments.of(2, adam, new Sharding(2).withOffload(Offload.OPTIMIZER)),
        Arguments.of(2, adam, new Sharding(1).withPlacement(Placement.AUTO)),
        Arguments.of(2, adam, three.withKeepGathered(new ByteSize(1))),
        Arguments.of(3, adam, three.withKeepGathered(new ByteSize(3000))),
        Arguments.of(
            3,
            adam,
            three
                .withKeepGathered(ByteSize.parse("1GB"))
                .withOffload(Offload.OPTIMIZER_AND_PARAMETERS)));
  }

  private TrainerBuilder trainer(World world, Optimizer optimizer, Sharding sharding) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(33, 17), 4))
        .optimizer(optimizer)
        .strategy(
            sharding.withOffloadFolder(folder),
            new GradientMerge(2),
            new ClipByNorm(0.5),
            Recompute.every(1))
        .threads(1);
  }

  private Snapshot train(int ranks, Optimizer optimizer, Sharding sharding) {
    var all =
        Ranks.of(ranks)
            .callWorlds(
                world -> {
                  var loop =
                      LoopSettings.defaults()
                          .logEach(Every.updates(UPDATES))
                          .endAfterUpdates(UPDATES);
                  try (var trainer = trainer(world, optimizer, sharding).loop(loop).build()) {
                    trainer.fit(POINTS.batches(12).shuffled(3), 100);
                    return Snapshot.of(trainer);
                  }
                });
    return all.getFirst();
  }

  @ParameterizedTest
  @MethodSource("placements")
  void placesGiveTheSameBits(int ranks, Optimizer optimizer, Sharding sharding) {
    var onDevice = train(ranks, optimizer, new Sharding(sharding.stage()));
    assertThat(train(ranks, optimizer, sharding).isSameAs(onDevice)).isTrue();
  }

  /** Three ranks have three, three and two batches, or no sample at all; nobody gathers all. */
  @ParameterizedTest
  @ValueSource(ints = {50, 2})
  void anEvaluationGathersSegmentBySegment(int samples) {
    var data = new ColouredPoints(samples, 8, 4);
    var loop = LoopSettings.defaults().logEach(Every.updates(2)).inBatchesOf(8).endAfterUpdates(2);
    List<List<Evaluation>> results = new ArrayList<>();
    for (var techniques : List.of(new Strategy[] {new Sharding(1)}, new Strategy[] {three()})) {
      results.addAll(
          Ranks.of(3)
              .callWorlds(
                  world -> {
                    var builder =
                        Trainer.on(world)
                            .model(new Mlp(8, List.of(33, 17), 4))
                            .optimizer(new AdamW(1e-2))
                            .strategy(techniques)
                            .threads(1)
                            .loop(loop);
                    try (var trainer = builder.build()) {
                      var before = trainer.evaluate(data);
                      trainer.fit(POINTS.batches(12).shuffled(3), 1);
                      return List.of(before, trainer.evaluate(data), trainer.evaluate(data));
                    }
                  }));
    }
    assertThat(results).allMatch(results.getFirst()::equals);
    assertThat(results.getFirst().get(0)).isNotEqualTo(results.getFirst().get(1));
    assertThat(results.getFirst().get(1)).isEqualTo(results.getFirst().get(2));
  }

  private Sharding three() {
    return new Sharding(3).withOffload(Offload.OPTIMIZER_AND_PARAMETERS).withOffloadFolder(folder);
  }
}
