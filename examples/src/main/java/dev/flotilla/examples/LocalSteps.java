package dev.flotilla.examples;

import dev.flotilla.collective.Traffic;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.localsgd.LocalSgd;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;

/**
 * Local SGD: each rank updates on its own gradients, and all average their parameters every eighth
 * update. Start it on several ranks; one alone trains as ever.
 *
 * <pre>{@code
 * ./flotilla run --nproc 2 --main dev.flotilla.examples.LocalSteps -cp examples.jar
 * }</pre>
 */
public final class LocalSteps {

  private LocalSteps() {}

  /** Prints, on rank 0, what five epochs reach and what they have cost the network. */
  public static void main(String[] args) {
    var world = World.join();
    var result = run(world, 5, new LocalSgd(8));
    if (world.isLeader()) {
      System.out.println(result);
    }
  }

  /**
   * What a run came to.
   *
   * @param accuracy fraction of test digits that are recognised by the average of all ranks
   * @param bytesSent what this rank has sent for averages
   */
  record Result(double accuracy, long bytesSent) {}

  static Result run(World world, int epochs, Strategy... techniques) {
    var digits = new Digits();
    try (var trainer =
        Trainer.on(world)
            .model(new LeNet5(10))
            .optimizer(new Momentum(0.05, 0.9))
            .strategy(techniques)
            .build()) {
      var result = trainer.fit(digits.train().batches(64).shuffled(42), epochs);
      var sent = trainer.sent(Traffic.EXCHANGE);
      return new Result(result.accuracyOn(digits.test()), sent.bytesSent());
    }
  }
}
