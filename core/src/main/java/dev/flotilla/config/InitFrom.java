package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Setting;
import dev.flotilla.train.InitialWeights;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Weights that a run starts from.
 *
 * @param path the file or folder; null for none
 * @param strict whether all tensors must fit
 */
public record InitFrom(
    @Setting(
            doc = "safetensors file, index, or folder; or a .pth state dict.",
            def = "null",
            local = true)
        @Nullable Path path,
    @Setting(
            doc = "Whether every tensor must fit; otherwise what does not is listed.",
            def = "true")
        boolean strict) {

  /** Checks that nothing is stated in vain. */
  public InitFrom {
    if (path == null && !strict) {
      throw new ConfigException(
          "strict", "has no effect without weights to start from; name them with init_from.path");
    }
  }

  @Nullable InitialWeights weights() {
    return path == null ? null : new InitialWeights(path, strict);
  }
}
