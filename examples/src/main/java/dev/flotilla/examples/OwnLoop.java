package dev.flotilla.examples;

import dev.flotilla.data.RankShard;
import dev.flotilla.memory.TensorScope;
import dev.flotilla.optim.Cosine;
import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;
import java.util.ArrayList;
import java.util.List;

/** The baseline with a loop of its own: the trainer makes steps, the program decides which. */
public final class OwnLoop {

  private OwnLoop() {}

  /** Prints the loss of each epoch's last step, then the accuracy. */
  public static void main(String[] args) {
    var result = run(8);
    result.losses().forEach(loss -> System.out.printf("loss %.4f%n", loss));
    System.out.printf("accuracy %.2f %%%n", 100 * result.accuracy());
  }

  /**
   * What the loop achieved.
   *
   * @param losses mean loss of the last step of each epoch, over all ranks
   * @param accuracy top-1 accuracy on the test digits
   */
  record Result(List<Double> losses, double accuracy) {}

  static Result run(int epochs) {
    var digits = new Digits();
    var source = digits.train().batches(64).shuffled(42);
    var world = World.join();
    try (var trainer =
        Trainer.on(world)
            .model(new LeNet5(10))
            .optimizer(new Momentum(0.05, 0.9))
            .schedule(new Cosine())
            .build()) {
      trainer.plannedUpdates(epochs * source.batchesPerEpoch(world.size()));
      List<Double> losses = new ArrayList<>();
      for (int epoch = 0; epoch < epochs; epoch++) {
        losses.add(runEpoch(trainer, source.epoch(epoch, world.rank(), world.size())));
      }
      return new Result(losses, trainer.evaluate(digits.test()).score().acc1());
    }
  }

  private static double runEpoch(Trainer trainer, RankShard shard) {
    double loss = Double.NaN;
    for (long i = 0; i < shard.batches(); i++) {
      boolean isLast = i + 1 == shard.batches();
      try (var _ = TensorScope.open()) { // frees the batch
        loss = trainer.step(shard.load(i), isLast).totals().meanLoss();
      }
    }
    return loss;
  }
}
