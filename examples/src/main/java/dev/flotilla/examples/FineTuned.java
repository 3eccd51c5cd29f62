package dev.flotilla.examples;

import dev.flotilla.optim.AdamW;
import dev.flotilla.optim.GroupSettings;
import dev.flotilla.train.InitialWeights;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.data.Digits;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.List;

/** Goes on from trained weights: the head learns fast, the rest slowly and from epoch 2 on. */
public final class FineTuned {
  public static void main(String[] args) {
    try (var trainer =
        Trainer.on(World.join())
            .model(new Mlp(1024, List.of(64, 32), 10))
            .initialWeights(new InitialWeights(Path.of(args[0]), true))
            .optimizer(new AdamW(0.0002))
            .groups(
                GroupSettings.ofLr(0.002, "fc3.*"), GroupSettings.frozenFor(1, "fc1.*", "fc2.*"))
            .build()) {
      var result = trainer.fit(new Digits().train().batches(64).shuffled(42), 2);
      System.out.printf("accuracy %.2f %%%n", 100 * result.accuracyOn(new Digits().test()));
    }
  }
}
