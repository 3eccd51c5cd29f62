package dev.flotilla.zoo.data;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.Summary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Handwritten digits that are always at hand: every sixth training image and every fifth test image
 * of MNIST, 10,000 and 2,000 of them, embedded in the jar.
 *
 * <p>Batches are as those of {@link Mnist}.
 */
@Summary("10,000 + 2,000 handwritten digits, embedded: grey images padded to 32x32, 10 classes.")
public record Digits() implements DataSource {

  /** Does nothing: what is embedded is there. */
  @Override
  public void check() {}

  @Override
  public Optional<SampleForm> form() {
    return Optional.of(ImageFiles.FORM);
  }

  @Override
  public OptionalInt trainingSize() {
    return OptionalInt.of(10_000);
  }

  @Override
  public List<String> classNames() {
    return ImageFiles.CLASS_NAMES;
  }

  @Override
  public String normalization() {
    return ImageDataset.NORMALIZATION;
  }

  @Override
  public Dataset train() {
    return load("train");
  }

  @Override
  public Dataset test() {
    return load("t10k");
  }

  private static ImageDataset load(String prefix) {
    return new ImageFiles(
            () -> new IdxFile(IdxKind.IMAGES, source(prefix + "-images-idx3-ubyte.gz")),
            () -> new IdxFile(IdxKind.LABELS, source(prefix + "-labels-idx1-ubyte.gz")))
        .load();
  }

  private static IdxSource source(String name) {
    try (var in = Digits.class.getResourceAsStream("digits/" + name)) {
      if (in == null) {
        throw new IllegalStateException("the embedded file digits/" + name + " is missing");
      }
      return IdxSource.of("embedded " + name, in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
