package dev.flotilla.examples;

import dev.flotilla.checkpoint.WeightsDigest;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.recompute.Recompute;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;

/** Keeps the inputs of segments only and computes the rest again, which changes no bit. */
public final class Recomputed {

  private Recomputed() {}

  /** Prints the digests of both runs, which are equal. */
  public static void main(String[] args) {
    var plain = run();
    var recomputed = run(new Recompute("conv1", "conv2"));
    System.out.println("plain      " + plain);
    System.out.println("recomputed " + recomputed);
    System.out.println(plain.equals(recomputed) ? "equal to the bit" : "NOT equal");
  }

  static String run(Strategy... techniques) {
    try (var trainer =
        Trainer.on(World.solo())
            .model(new LeNet5(10))
            .optimizer(new Momentum(0.05, 0.9))
            .strategy(techniques)
            .loop(LoopSettings.defaults().endAfterUpdates(40))
            .build()) {
      trainer.fit(new Digits().train().batches(32).shuffled(42), 1);
      return WeightsDigest.of(trainer.model().state());
    }
  }
}
