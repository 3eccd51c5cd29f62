package dev.flotilla.examples;

import dev.flotilla.optim.Adam;
import dev.flotilla.optim.Cosine;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.shard.Sharding;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;

/** Each rank keeps its slices of what Adam remembers; launch it on two ranks or more. */
public final class Sharded {

  private Sharded() {}

  /** Prints the accuracy. */
  public static void main(String[] args) {
    System.out.printf("accuracy %.2f %%%n", 100 * run(World.join(), 2, new Sharding(1)));
  }

  static double run(World world, int epochs, Strategy... techniques) {
    var digits = new Digits();
    try (var trainer =
        Trainer.on(world)
            .model(new LeNet5(10))
            .optimizer(new Adam(0.002))
            .schedule(new Cosine())
            .strategy(techniques)
            .build()) {
      var result = trainer.fit(digits.train().batches(64 / world.size()).shuffled(42), epochs);
      return result.accuracyOn(digits.test());
    }
  }
}
