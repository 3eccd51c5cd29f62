package dev.flotilla.examples;

import dev.flotilla.memory.Precision;
import dev.flotilla.optim.Sgd;
import dev.flotilla.strategy.Strategy;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.strategy.norm.PoolOver;
import dev.flotilla.strategy.norm.PooledBatchNorm;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.SyntheticImages;
import dev.flotilla.zoo.model.Normalization;
import dev.flotilla.zoo.model.ResNet18;
import dev.flotilla.zoo.model.Stem;

/** Merges micro-batches of a model with BatchNorm, as one large batch would be trained. */
public final class WholeWindowNorm {

  private WholeWindowNorm() {}

  /** Prints the training loss of the one large batch, of pooled windows and of plain ones. */
  public static void main(String[] args) {
    var pooled = new PooledBatchNorm(PoolOver.WHOLE_WINDOW);
    System.out.println("batch of 16               " + run(16));
    System.out.println("4 x 4, whole window       " + run(4, new GradientMerge(4), pooled));
    System.out.println("4 x 4, each its own       " + run(4, new GradientMerge(4)));
  }

  /** Returns the loss of the third update. */
  static double run(int batch, Strategy... techniques) {
    try (var trainer =
        Trainer.on(World.solo())
            .model(new ResNet18(10, Stem.CIFAR, Normalization.BATCH, 4, false, 8))
            .optimizer(new Sgd(0.1))
            .precision(Precision.FLOAT64)
            .strategy(techniques)
            .loop(LoopSettings.defaults().endAfterUpdates(3))
            .build()) {
      var images = new SyntheticImages(3, 16, 10, 48, 8);
      return trainer.fit(images.train().batches(batch), 1).loss();
    }
  }
}
