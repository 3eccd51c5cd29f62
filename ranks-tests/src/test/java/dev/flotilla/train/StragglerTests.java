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
import dev.flotilla.testkit.Matrix;
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
    return Matrix.some(
        4,
        Stream.of(
            List.of(),
            List.of(new GradientMerge(2)),
            List.of(new Dgc(0, 1, List.of(0.9))),
            List.of(new PowerSgd(1)),
            List.of(new LocalSgd(2)),
            List.of(new Sharding(1)),
            List.of(new Sharding(3))));
  }

  private static TrainerBuilder mlp(World world, List<Strategy> techniques) {
    return Trainer.on(world)
        .model(new Mlp(8, List.of(16), 4))
        .optimizer(new Momentum(0.1, 0.9))
        .strategy(techniques.toArray(Strategy[]::new))
        .threads(1);
  }

  /** Returns what is told of stragglers while one of three ranks pauses after each step. */
  private static List<Straggler> told(List<Strategy> techniques, Consumer<Trainer> loop) {
    List<Straggler> told = new CopyOnWriteArrayList<>();
    Ranks.of(3)
        .callWorlds(
            world -> {
              var builder = mlp(world, techniques).events(event -> add(told, event));
              var pauses = new Pauses(world.rank() == SLOW);
              builder.callbacks(Callback.eachStep((_, _) -> pauses.pause()));
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

  /** Pauses that are longer than the steps between them, however busy the machine is. */
  private static final class Pauses {

    private final boolean isSlow;
    private long end = System.nanoTime();

    private Pauses(boolean isSlow) {
      this.isSlow = isSlow;
    }

    private void pause() {
      long step = Duration.ofNanos(System.nanoTime() - end).toMillis();
      try {
        Thread.sleep(isSlow ? 60 + 2 * Math.min(step, 500) : 0);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      end = System.nanoTime();
    }
  }

  /** On a busy machine another rank may truly be the slow one for a moment; it is named then. */
  private static void assertSlowIsNamed(List<Straggler> told) {
    var slow = told.stream().filter(it -> it.rank() == SLOW).toList();
    assertThat(slow).as("of %s", told).hasSizeGreaterThan(told.size() / 2);
    assertThat(slow.getFirst().share()).isGreaterThan(0.25);
    assertThat(slow.getFirst().text()).startsWith("rank 1 is slow: it works ");
  }

  @ParameterizedTest
  @MethodSource("techniques")
  void aFitNamesIt(List<Strategy> techniques) {
    assertSlowIsNamed(told(techniques, trainer -> trainer.fit(BATCHES, 1)));
  }

  @Test
  void anOwnLoopNamesItToo() {
    var told =
        told(
            List.of(new FuseAllReduce()),
            trainer -> {
              var loop = trainer.ownLoop();
              var shard = BATCHES.epoch(0, trainer.collective().rank(), 3);
              for (int i = 0; i < STEPS; i++) {
                try (var _ = TensorScope.open()) {
                  loop.update(shard.load(i));
                }
              }
            });

    assertSlowIsNamed(told);
  }
}
