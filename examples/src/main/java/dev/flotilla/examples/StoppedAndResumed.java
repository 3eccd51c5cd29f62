package dev.flotilla.examples;

import dev.flotilla.checkpoint.WeightsDigest;
import dev.flotilla.optim.Momentum;
import dev.flotilla.strategy.merge.GradientMerge;
import dev.flotilla.train.CheckpointSettings;
import dev.flotilla.train.LoopSettings;
import dev.flotilla.train.Trainer;
import dev.flotilla.train.TrainerBuilder;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.LeNet5;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Saves checkpoints, throws the trainer away half-way, and goes on with another one. */
public final class StoppedAndResumed {

  private static final int UPDATES = 40;

  private StoppedAndResumed() {}

  /** Prints the digests of both runs, which are equal. */
  public static void main(String[] args) throws IOException {
    var whole = wholeRun();
    var resumed = resumedRun(Files.createTempDirectory("checkpoints"));
    System.out.println("never stopped       " + whole);
    System.out.println("stopped and resumed " + resumed);
    System.out.println(whole.equals(resumed) ? "equal to the bit" : "NOT equal");
  }

  static String wholeRun() {
    try (var trainer = trainer(UPDATES).build()) {
      return fit(trainer);
    }
  }

  static String resumedRun(Path folder) {
    var checkpoints = CheckpointSettings.in(folder).every(10);
    try (var first = trainer(UPDATES / 2).checkpoints(checkpoints).build()) {
      fit(first);
    }
    try (var second = trainer(UPDATES).checkpoints(checkpoints).build()) {
      second.resume(folder);
      return fit(second);
    }
  }

  private static TrainerBuilder trainer(int updates) {
    return Trainer.on(World.solo())
        .model(new LeNet5(10))
        .optimizer(new Momentum(0.05, 0.9))
        .strategy(new GradientMerge(2))
        .loop(LoopSettings.defaults().endAfterUpdates(updates));
  }

  private static String fit(Trainer trainer) {
    trainer.fit(new Digits().train().batches(32).shuffled(42), 1);
    return WeightsDigest.of(trainer.model().state());
  }
}
