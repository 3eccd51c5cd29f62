package dev.flotilla.zoo.data;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * CIFAR-10 from a folder: colour images of 32×32 pixels in ten classes.
 *
 * <p>Reads the binary version ({@code data_batch_1.bin} … and {@code test_batch.bin}) and the one
 * for Python ({@code data_batch_1} …), whose pickles are parsed but never executed; either lies in
 * the folder itself or in its {@code cifar-10-batches-bin} or {@code cifar-10-batches-py}.
 *
 * <p>A batch holds images as float32 [n, 3, 32, 32], normalised by the mean (0.4914, 0.4822,
 * 0.4465) and deviation (0.2470, 0.2435, 0.2616) of the training images, and labels as int64 [n].
 * In training, an image is padded by four black pixels on each side, a random 32×32 piece is cut
 * out, and half of them are mirrored; what is drawn is a function of seed, epoch and sample.
 *
 * @param path the folder
 * @param augment whether training crops and mirrors
 * @param augmentation what else training does at random
 */
@Summary("CIFAR-10 from a folder: 50,000 + 10,000 RGB images of 32x32 pixels, 10 classes.")
public record Cifar10(
    @Setting(doc = "Folder of CIFAR-10's files, binary or for Python.") Path path,
    @Setting(doc = "Whether training crops and mirrors at random.", def = "true") boolean augment,
    @Setting(doc = "What else training does to images at random.", def = "{}")
        ImageAugmentation augmentation)
    implements DataSource {

  /** Checks the settings. */
  public Cifar10 {
    Check.that(
            augment || augmentation.equals(ImageAugmentation.NONE),
            "augmentation",
            "needs augment: true",
            augmentation)
        .orThrow();
  }

  /** Changes no colours and mixes no images. */
  public Cifar10(Path path, boolean augment) {
    this(path, augment, ImageAugmentation.NONE);
  }

  /** As batches.meta has them. */
  private static final List<String> CLASS_NAMES =
      List.of(
          "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck");

  /** Opens the training images of a folder, augmented. */
  public static Dataset train(Path folder) {
    return new Cifar10(folder, true).train();
  }

  /** Opens the test images of a folder. */
  public static Dataset test(Path folder) {
    return new Cifar10(folder, true).test();
  }

  @Override
  public void check() {
    var folder = CifarFolder.find(path);
    folder.training().forEach(CifarFile::check);
    folder.test().check();
  }

  @Override
  public Optional<SampleForm> form() {
    return Optional.of(new SampleForm.Images(3, 32, 32, CifarFile.CLASSES));
  }

  @Override
  public List<String> classNames() {
    return CLASS_NAMES;
  }

  @Override
  public String normalization() {
    return "RGB, " + CifarDataset.NORMALIZER;
  }

  @Override
  public Dataset train() {
    return new CifarDataset(
        CifarImages.read(CifarFolder.find(path).training()), augment, augmentation);
  }

  @Override
  public Dataset test() {
    var files = List.of(CifarFolder.find(path).test());
    return new CifarDataset(CifarImages.read(files), false, ImageAugmentation.NONE);
  }
}
