package dev.flotilla.examples;

import dev.flotilla.optim.Momentum;
import dev.flotilla.pass.Evaluation;
import dev.flotilla.strategy.ema.Ema;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;

/** Learns at a constant rate, and keeps a moving average of the weights beside them. */
public final class AveragedWeights {

  private AveragedWeights() {}

  /** Prints the accuracy of both. */
  public static void main(String[] args) {
    var evaluation = run(314);
    System.out.printf("weights   %.2f %%%n", 100 * evaluation.value("accuracy"));
    System.out.printf("average   %.2f %%%n", 100 * evaluation.value("ema/accuracy"));
  }

  /** Returns the evaluation after some updates. */
  static Evaluation run(int updates) {
    var digits = new Digits();
    try (var trainer =
        Trainer.on(World.join())
            .model(new LeNet5(10))
            .optimizer(new Momentum(0.05, 0.9))
            .strategy(new Ema(0.99).withWarmup())
            .loop(LoopSettings.defaults().endAfterUpdates(updates))
            .build()) {
      trainer.fit(digits.train().batches(64).shuffled(42), 2);
      return trainer.evaluate(digits.test());
    }
  }
}
