package dev.flotilla.train;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.report.TrainingEvent;
import dev.flotilla.report.TrainingEvent.Straggler;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.compress.Dgc;
import dev.flotilla.strategy.fusion.FuseAllReduce;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.powersgd.PowerSgd;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.Ranks;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A rank that the others wait for is named while the run goes on, whatever kind of run it is. */
class StragglerTests {

  private static final int SLOW = 1;
  private static final int STEPS = 16;
  private static final BatchSource BATCHES =
      BatchSource.global(new ColouredPoints(3 * STEPS, 8, 4), 3);

  static Stream<List<Strategy>> techniques() {
    return Stream.of(
        List.of(),
        List.of(new GradientMerge(2)),
        List.of(new Dgc(0, 1, List.of(0.9))),
        List.of(new PowerSgd(1)),
        List.of(new LocalSgd(2)),
        List.of(new Sharding(1)),
        List.of(new Sharding(3)));
  }

  private static TrainerBuilder mlp(World world, List<Strategy> techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(new Momentum(0.1, 0.9))
        .strategy(techniques.toArray(Strategy[]::new))
        .threads(1);
  }

  /** Returns what is told of stragglers while one of three ranks pauses after each step. */
  private static List<Straggler> told(
      List<Strategy> techniques, long millis, Consumer<Trainer> loop) {
    List<Straggler> told = new CopyOnWriteArrayList<>();
    Ranks.of(3)
        .callWorlds(
            world -> {
              var builder = mlp(world, techniques).events(event -> add(told, event));
              builder.callbacks(
                  Callback.eachStep((_, _) -> pause(world.rank() == SLOW ? millis : 0)));
              try (var trainer = builder.build()) {
                trainer.parts().pace().every(Duration.ofMillis(150));
                loop.accept(trainer);
              }
              return world.rank();
            });
    return told;
  }

  private static void add(List<Straggler> told, TrainingEvent event) {
    if (event instanceof Straggler straggler) {
      told.add(straggler);
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest
  @MethodSource("techniques")
  void aFitNamesIt(List<Strategy> techniques) {
    var told = told(techniques, 60, trainer -> trainer.fit(BATCHES, 1));

    assertThat(told).isNotEmpty().allMatch(it -> it.rank() == SLOW);
    assertThat(told.getFirst().share()).isGreaterThan(0.25);
    assertThat(told.getFirst().text()).startsWith("rank 1 is slow: it works ");
  }

  @Test
  void anOwnLoopNamesItToo() {
    var told =
        told(
            List.of(new FuseAllReduce()),
            60,
            trainer -> {
              var loop = trainer.ownLoop();
              var shard = BATCHES.epoch(0, trainer.collective().rank(), 3);
              for (int i = 0; i < STEPS; i++) {
                try (var _ = TensorScope.open()) {
                  loop.update(shard.load(i));
                }
              }
            });

    assertThat(told).isNotEmpty().allMatch(it -> it.rank() == SLOW);
  }
}
