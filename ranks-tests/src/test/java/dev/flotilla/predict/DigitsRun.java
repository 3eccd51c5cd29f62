package dev.flotilla.predict;

import dev.flotilla.config.Catalogue;
import dev.flotilla.config.ConfiguredRun;
import dev.flotilla.config.Recipe;
import dev.flotilla.config.RunConfig;
import dev.flotilla.world.World;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A run of two updates on the digits, for what is made of its folder. */
final class DigitsRun {

  private DigitsRun() {}

  /** Trains, and returns the folder. */
  static Path train(Path out, String precision) {
    var recipe =
        Map.<String, Object>of(
            "model",
            Map.of("name", "mlp", "hidden", List.of(8)),
            "data",
            "digits",
            "batch",
            64,
            "max_steps",
            2,
            "precision",
            precision,
            "eval",
            Map.of("every", "end", "batch", 2000),
            "device",
            "cpu",
            "optimizer",
            Map.of("name", "sgd", "lr", 0.1));
    var config = RunConfig.read(Recipe.of("test", recipe), Catalogue.installed());
    new ConfiguredRun(config, World.solo()).run(out, _ -> {});
    return out;
  }
}
