package dev.flotilla.examples;

import dev.flotilla.optim.AdamW;
import dev.flotilla.predict.Predictor;
import dev.flotilla.train.Trainer;
import dev.flotilla.world.World;
import dev.flotilla.zoo.model.Mlp;
import dev.flotilla.zoo.table.Csv;
import java.nio.file.Path;
import java.util.List;

/** Makes a trained and saved model of a CSV file, and predicts rows of it with what was saved. */
public final class FromCsv {
  public static void main(String[] args) {
    var table = Csv.of(Path.of(args[0]), "diagnosis");
    var folder = Path.of(args[1]);
    var model = new Mlp(30, List.of(16), 2);
    try (var trainer = Trainer.on(World.join()).model(model).optimizer(new AdamW(0.005)).build()) {
      var result = trainer.fit(table.train().batches(32).shuffled(42), 20);
      System.out.printf("accuracy %.1f %%%n", 100 * result.accuracyOn(table.test()));
      trainer.saveModel(folder.resolve("model.safetensors"));
      table.savePreprocessing(folder);
    }
    try (var predictor = Predictor.load(folder.resolve("model.safetensors"), model)) {
      var rows = Csv.like(folder, Path.of(args[0])).unlabelled();
      predictor.predict(rows, 0, 1, 2).forEach(System.out::println);
    }
  }
}
