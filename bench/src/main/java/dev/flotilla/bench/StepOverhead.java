package dev.flotilla.bench;

import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;

/**
 * A training step of LeNet-5, batch 64, one thread: Flotilla against the same step written by hand
 * on libtorch's modules and C++ optimizer.
 *
 * <p>{@code bench/run StepOverhead}
 */
public final class StepOverhead {

  private static final int WARMUP = 200;

  private StepOverhead() {}

  /** Prints the ratio. */
  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 41;
    var digits = new Digits().train();
    try (var _ = TensorScope.open();
        var trainer =
            Trainer.on(World.solo())
                .model(new LeNet5(10))
                .optimizer(new Momentum(0.01, 0.9))
                .threads(1)
                .build();
        var bare = new BareLeNet()) {
      var batch = digits.load(java.util.stream.IntStream.range(0, 64).toArray());
      Runnable ours = () -> trainer.step(batch);
      Runnable byHand =
          () -> {
            bare.clear();
            bare.forwardBackward(batch);
            bare.update();
          };
      Pairs.compare(ours, byHand, 2, WARMUP);
      var result = Pairs.compare(ours, byHand, rounds, 25);
      System.out.println("flotilla / by hand: " + result);
    }
  }
}
