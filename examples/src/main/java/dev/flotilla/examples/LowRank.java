package dev.flotilla.examples;

import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.powersgd.PowerSgd;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;
import java.util.Map;

/** The baseline with gradients sent as factors of rank 2; launch it on two ranks or more. */
public final class LowRank {

  private LowRank() {}

  /** Prints accuracy and, on several ranks, how many times fewer bytes were sent. */
  public static void main(String[] args) {
    System.out.println(run(2));
  }

  static Map<String, Object> run(int epochs) {
    var digits = new Digits();
    var world = World.join();
    try (var trainer =
        Trainer.on(world)
            .model(new LeNet5(10))
            .optimizer(new Momentum(0.05, 0.9))
            .schedule(new Cosine())
            .strategy(new PowerSgd(2))
            .build()) {
      var result = trainer.fit(digits.train().batches(64 / world.size()).shuffled(42), epochs);
      return Map.of(
          "accuracy", result.accuracyOn(digits.test()),
          "powersgd", trainer.metrics().getOrDefault("powersgd", "none"));
    }
  }
}
