package example;

import dev.flotilla.optim.Momentum;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.Mlp;
import java.util.List;

/** A program outside of Flotilla that trains for five steps in a loop of its own. */
public final class TrainDigits {

  private TrainDigits() {}

  /** Ends with an error unless the model learns. */
  public static void main(String[] args) {
    var digits = new Digits();
    var world = World.join();
    try (var trainer =
        Trainer.on(world)
            .model(new Mlp(1024, List.of(32), 10))
            .optimizer(new Momentum(0.05, 0.9))
            .build()) {
      double before = trainer.evaluate(digits.test()).loss();
      var epoch = digits.train().batches(64).shuffled(7).epoch(0, world.rank(), world.size());
      for (int step = 0; step < 5; step++) {
        trainer.step(epoch.load(step));
      }
      double after = trainer.evaluate(digits.test()).loss();
      System.out.printf("loss %.3f, after %d updates %.3f%n", before, trainer.updates(), after);
      if (!(after < before)) {
        throw new IllegalStateException("the model has not learnt");
      }
    }
  }
}
