package dev.flotilla.train;

import dev.flotilla.checkpoint.PublishedWeights;
import dev.flotilla.checkpoint.WeightsFit;
import dev.flotilla.model.Model;
import dev.flotilla.pass.BoundModel;
import dev.flotilla.settings.ConfigException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Weights that training starts from.
 *
 * @param path a safetensors file, an index of several, a folder with either, or a {@code .pth} file
 * @param strict whether every tensor must fit; otherwise what fits is copied, and what does not is
 *     said
 */
public record InitialWeights(Path path, boolean strict) {

  /**
   * Checks that the file is there and, unless it must be converted first, that it fits a model;
   * needs no native code.
   *
   * @throws ConfigException if there is no such file
   * @throws dev.flotilla.checkpoint.CheckpointException if it is malformed or does not fit
   */
  public void check(Model model) {
    if (!Files.isReadable(path)) {
      String problem = Files.exists(path) ? "permission denied: " : "no such file or folder: ";
      throw new ConfigException("path", problem + path.toAbsolutePath().normalize());
    }
    if (PublishedWeights.isConverted(path)) {
      return;
    }
    try (var weights = PublishedWeights.open(path)) {
      var fit = weights.fitShapes(shapes(model), model.aliases()).requireAny();
      if (strict) {
        fit.requireExact();
      }
    }
  }

  private static Map<String, long[]> shapes(Model model) {
    Map<String, long[]> shapes = new LinkedHashMap<>();
    model.parameters().forEach(spec -> shapes.put(spec.name(), spec.shape().toArray()));
    model.buffers().forEach(spec -> shapes.put(spec.name(), spec.shape().toArray()));
    return shapes;
  }

  /** Opens the weights to copy them; rank 0 does so, and the others get its values. */
  Loading open(BoundModel model, Map<String, String> aliases, Consumer<String> notices) {
    var weights = PublishedWeights.open(path);
    try {
      var fit = weights.fit(model.state(), aliases);
      if (strict) {
        fit.requireExact();
      }
      if (!fit.requireAny().isExact()) {
        notices.accept(
            "%d tensors of %s are loaded; not all fit:\n%s"
                .formatted(fit.copied(), path, fit.text()));
      }
      return new Loading(weights, fit);
    } catch (RuntimeException failure) {
      weights.close();
      throw failure;
    }
  }

  /** Weights that are being copied into a model, part by part. */
  record Loading(PublishedWeights weights, WeightsFit fit) implements AutoCloseable {

    /** Copies what the file has of these. */
    void copy(Set<String> names) {
      fit.copy(names::contains);
    }

    @Override
    public void close() {
      weights.close();
    }
  }
}
