package dev.flotilla.app;

import dev.flotilla.data.BatchSource;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Sgd;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;

/**
 * A user's own loop in which rank 1 fails at its fifth update, by {@code throw} or {@code exit}.
 */
public final class FailingProgram {

  private FailingProgram() {}

  /** Trains until something fails. */
  public static void main(String[] args) {
    var world = World.join();
    var builder =
        Trainer.on(world).model(new Mlp(1024, List.of(16), 10)).optimizer(new Sgd(0.1, 0));
    var batches = BatchSource.perRank(new Digits().train(), 8);
    try (var trainer = builder.threads(1).build()) {
      for (int epoch = 0; epoch < 100; epoch++) {
        var shard = batches.epoch(epoch, world.rank(), world.size());
        for (long i = 0; i < shard.batches(); i++) {
          try (var _ = TensorScope.open()) {
            trainer.step(shard.load(i));
          }
          if (world.rank() == 1 && trainer.updates() == 5) {
            fail(args[0]);
          }
        }
      }
    }
  }

  private static void fail(String how) {
    System.out.println("rank 1 has had enough");
    if (how.equals("exit")) {
      System.exit(3);
    }
    throw new IllegalStateException("the fifth update was too much");
  }
}
