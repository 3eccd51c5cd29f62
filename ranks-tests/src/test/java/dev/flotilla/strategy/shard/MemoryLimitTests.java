package dev.flotilla.strategy.shard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.optim.Adam;
import dev.flotilla.pass.OutOfMemoryException;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.testkit.ColouredPoints;
import dev.flotilla.testkit.RankProcesses;
import dev.flotilla.testkit.RankProcesses.RankResult;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.time.Duration;
import java.util.Collections;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A model whose state is larger than what its process may take. */
class MemoryLimitTests {

  /**
   * 50 million parameters: with Adam 800 MB, of which a process may not even have 500 beside it.
   */
  private static final int LAYERS = 10;

  private static final int WIDTH = 2048;
  private static final long LIMIT = 840 << 10;

  /** Trains in a process of its own. */
  static final class Program {

    private Program() {}

    /** Makes two updates, with what the argument says beside the device. */
    public static void main(String[] args) {
      var points = new ColouredPoints(16, 8, 4);
      try (var trainer =
          Trainer.on(World.solo())
              .model(new Mlp(8, Collections.nCopies(LAYERS + 1, WIDTH), 4))
              .optimizer(new Adam(1e-3))
              .strategy(techniques(args[0]))
              .threads(1)
              .build()) {
        var shard = points.batches(8).epoch(0, 0, 1);
        trainer.step(shard.load(0));
        trainer.step(shard.load(1));
        System.out.println("two updates made");
      } catch (OutOfMemoryException full) {
        System.out.println(full.getMessage());
        System.exit(full.exitCode());
      }
    }

    private static Strategy[] techniques(String offload) {
      return offload.equals("plain")
          ? new Strategy[0]
          : new Strategy[] {new Sharding(3).withOffload(Offload.parse(offload))};
    }
  }

  private static RankResult train(String offload) {
    var plan = RankProcesses.plan(1, Program.class, offload).withDataLimit(LIMIT);
    try (var started = plan.start()) {
      return started.await(Duration.ofMinutes(2)).getFirst();
    }
  }

  @Tag("thorough")
  @Test
  void trainsBesideTheDeviceAlone() {
    assertThat(train("optimizer+parameters"))
        .satisfies(it -> assertThat(it.output()).contains("two updates made"))
        .extracting(RankResult::exitCode)
        .isEqualTo(0);
    assertThat(train("plain"))
        .satisfies(
            it ->
                assertThat(it.output())
                    .contains("parameters, gradients and optimizer do not fit")
                    .contains("sharding: {stage: 3, offload: optimizer+parameters}"))
        .extracting(RankResult::exitCode)
        .isEqualTo(1);
  }
}
