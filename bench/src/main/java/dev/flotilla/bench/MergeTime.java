package dev.flotilla.bench;

import dev.flotilla.data.Batch;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;
import java.util.stream.IntStream;

/**
 * CPU time of 4 merged micro-batches of 32 and their update, against the same number of forward and
 * backward passes and one update written by hand on libtorch's modules and C++ optimizer.
 */
public final class MergeTime {

  private static final int K = 4;
  private static final int WARMUP = 100;

  private MergeTime() {}

  /** Prints the ratio. */
  public static void main(String[] args) {
    int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 31;
    var digits = new Digits().train();
    try (var _ = TensorScope.open();
        var trainer =
            Trainer.on(World.solo())
                .model(new LeNet5(10))
                .optimizer(new Momentum(0.01, 0.9))
                .strategy(new GradientMerge(K))
                .threads(1)
                .build();
        var bare = new BareLeNet()) {
      Batch batch = digits.load(IntStream.range(0, 32).toArray());
      Runnable merged =
          () -> {
            for (int i = 0; i < K; i++) {
              trainer.step(batch);
            }
          };
      Runnable byHand =
          () -> {
            bare.clear();
            for (int i = 0; i < K; i++) {
              bare.forwardBackward(batch);
            }
            bare.update();
          };
      Pairs.compare(merged, byHand, 2, WARMUP);
      System.out.println("merged / by hand: " + Pairs.compare(merged, byHand, rounds, 10));
    }
  }
}
