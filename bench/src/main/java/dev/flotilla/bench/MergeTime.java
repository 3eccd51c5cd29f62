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
 * CPU time of 4 merged micro-batches of 32 and their update, against the same number of bare passes
 * of the same model and one update by libtorch's C++ optimizer, and against the same network
 * written by hand on libtorch's modules.
 */
public final class MergeTime {

  private static final int K = 4;
  private static final int BATCH = 32;
  // Long enough for the optimising compiler, as training is.
  private static final int WARMUP = 400;

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
        var bare = new BarePasses(new LeNet5(10), K * BATCH);
        var modules = new BareLeNet()) {
      Batch batch = digits.load(IntStream.range(0, BATCH).toArray());
      Runnable merged =
          () -> {
            for (int i = 0; i < K; i++) {
              trainer.step(batch);
            }
          };
      Runnable passes =
          () -> {
            bare.clear();
            for (int i = 0; i < K; i++) {
              bare.forwardBackward(batch);
            }
            bare.update();
          };
      Runnable byHand =
          () -> {
            modules.clear();
            for (int i = 0; i < K; i++) {
              modules.forwardBackward(batch);
            }
            modules.update();
          };
      Pairs.compare(merged, passes, 2, WARMUP);
      Pairs.compare(byHand, passes, 2, WARMUP);
      System.out.println("merged / bare passes: " + Pairs.compare(merged, passes, rounds, 10));
      System.out.println("merged / by hand:     " + Pairs.compare(merged, byHand, rounds, 10));
    }
  }
}
