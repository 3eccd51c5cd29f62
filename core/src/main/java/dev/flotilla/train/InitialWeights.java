package dev.flotilla.train;

import dev.flotilla.checkpoint.PublishedWeights;
import dev.flotilla.engine.BoundModel;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Weights that training starts from.
 *
 * @param path a safetensors file, an index of several, a folder with either, or a {@code .pth} file
 * @param strict whether every tensor must fit; otherwise what fits is copied, and what does not is
 *     said
 */
public record InitialWeights(Path path, boolean strict) {

  /** Copies the weights; rank 0 does so, and the others get its values. */
  void copyInto(BoundModel model, Map<String, String> aliases, Consumer<String> notices) {
    try (var weights = PublishedWeights.open(path)) {
      var fit = weights.fit(model.state(), aliases);
      if (strict) {
        fit.requireExact();
      }
      fit.copy();
      if (!fit.isExact()) {
        notices.accept(
            "%d tensors of %s were loaded; not all fit:\n%s"
                .formatted(fit.copied(), path, fit.text()));
      }
    }
  }
}
