package dev.flotilla.zoo.data;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;

/**
 * The handwritten digits of MNIST from a folder of IDX files: 60,000 images to train on and 10,000
 * to test with.
 *
 * <p>The files are called {@code train-images-idx3-ubyte} and so on, with or without {@code .gz},
 * and lie in the folder itself or in its {@code MNIST/raw}.
 *
 * <p>A batch holds images as float32 [n, 1, 32, 32], with a black border of two pixels and
 * normalised by mean 0.1307 and standard deviation 0.3081, and labels as int64 [n].
 *
 * @param path the folder
 */
@Summary("MNIST from a folder: 60,000 + 10,000 grey images padded to 32x32, 10 classes.")
public record Mnist(
    @Setting(doc = "Folder of the four MNIST files, gzip or not; its MNIST/raw is tried too.")
        Path path)
    implements DataSource {

  /** The key that every problem with the files is reported under. */
  static final String KEY = "data.path";

  /** Opens the training images of a folder. */
  public static Dataset train(Path folder) {
    return new Mnist(folder).train();
  }

  /** Opens the test images of a folder. */
  public static Dataset test(Path folder) {
    return new Mnist(folder).test();
  }

  @Override
  public void check() {
    var problems =
        Stream.of("train", "t10k")
            .flatMap(prefix -> files(prefix).problems().stream())
            .distinct()
            .toList();
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
  }

  @Override
  public Optional<SampleForm> form() {
    return Optional.of(ImageFiles.FORM);
  }

  @Override
  public OptionalInt trainingSize() {
    return OptionalInt.of(files("train").images().get().count());
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
    return files("train").load();
  }

  @Override
  public Dataset test() {
    return files("t10k").load();
  }

  private ImageFiles files(String prefix) {
    return new ImageFiles(
        () -> new IdxFile(IdxKind.IMAGES, find(prefix + "-images-idx3-ubyte")),
        () -> new IdxFile(IdxKind.LABELS, find(prefix + "-labels-idx1-ubyte")));
  }

  private IdxSource find(String name) {
    var folder = path.toAbsolutePath().normalize();
    if (!Files.isDirectory(folder)) {
      throw problem("no such folder: " + folder, "name the folder that holds the MNIST files");
    }
    var raw = folder.resolve("MNIST/raw");
    return Stream.of(folder, raw)
        .flatMap(place -> Stream.of(place.resolve(name), place.resolve(name + ".gz")))
        .filter(Files::isRegularFile)
        .findFirst()
        .map(Mnist::source)
        .orElseThrow(
            () ->
                problem(
                    "%s, plain or .gz, is neither in %s nor in %s".formatted(name, folder, raw),
                    "name the folder that holds the MNIST files"));
  }

  private static IdxSource source(Path file) {
    try {
      return IdxSource.of(file);
    } catch (IOException e) {
      throw problem("%s cannot be read: %s".formatted(file, e.getMessage()), "");
    }
  }

  private static ConfigException problem(String message, String fix) {
    return new ConfigException(List.of(new Problem("", KEY, message, fix)));
  }
}
