package dev.flotilla.examples;

import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.precision.MixedPrecision;
import dev.flotilla.train.Trainer;
import dev.flotilla.wire.Dtype;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;

/** Trains in float32, bf16 and fp16, and prints what each reaches. */
public final class HalfPrecision {

  private HalfPrecision() {}

  /** Prints the accuracy of each dtype after two epochs. */
  public static void main(String[] args) {
    System.out.println("float32 " + run(2));
    System.out.println("bf16    " + run(2, new MixedPrecision(Dtype.BF16)));
    System.out.println("fp16    " + run(2, new MixedPrecision(Dtype.FP16)));
  }

  static double run(int epochs, Strategy... techniques) {
    var digits = new Digits();
    try (var trainer =
        Trainer.on(World.solo())
            .model(new Mlp(32 * 32, List.of(64), 10))
            .optimizer(new Momentum(0.05, 0.9))
            .strategy(techniques)
            .build()) {
      var result = trainer.fit(digits.train().batches(64).shuffled(42), epochs);
      return result.accuracyOn(digits.test());
    }
  }
}
