package dev.flotilla.examples;

import dev.flotilla.data.Dataset;
import dev.flotilla.optim.Adam;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** Learns from objects of the program which points lie under a parabola; saves the model. */
public final class OwnData {
  record Hit(float x, float y) {}

  public static void main(String[] args) {
    var hits =
        IntStream.range(0, 999).mapToObj(i -> new Hit(i * .618f % 1, i * .755f % 1)).toList();
    var data =
        Dataset.of(hits, it -> new float[] {it.x, it.y}, it -> it.y < it.x * it.x ? 1 : 0, 2);
    var parts = data.splitStratified(42, 0.8, 0.2);
    var settings = Trainer.on(World.join()).model(new Mlp(2, List.of(32), 2));
    try (var trainer = settings.optimizer(new Adam(0.02)).build()) {
      var result = trainer.fit(parts.get(0).batches(20).shuffled(42), 20);
      System.out.printf("accuracy %.2f %%%n", 100 * result.accuracyOn(parts.get(1)));
      trainer.saveModel(Path.of(args[0]));
    }
  }
}
