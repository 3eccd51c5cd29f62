package dev.flotilla.examples;

import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;

/** LeNet-5 learns handwritten digits: as one process, or as one of several ranks. */
public final class Baseline {

  private Baseline() {}

  /** Prints the accuracy on digits that were not trained on. */
  public static void main(String[] args) {
    System.out.printf("accuracy %.2f %%%n", 100 * run(8));
  }

  static double run(int epochs) {
    var digits = new Digits();
    try (var trainer =
        Trainer.on(World.join())
            .model(new LeNet5(10))
            .optimizer(new Momentum(0.05, 0.9))
            .schedule(new Cosine())
            .build()) {
      var result = trainer.fit(digits.train().batches(64).shuffled(42), epochs);
      return result.accuracyOn(digits.test());
    }
  }
}
