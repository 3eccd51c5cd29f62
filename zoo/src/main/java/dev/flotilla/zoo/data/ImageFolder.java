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
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * JPEG and PNG images in folders by class, as ImageNet is laid out: {@code train/<class>/*.jpeg}
 * and {@code val/<class>/*.jpeg}. Classes are numbered in the order of their names.
 *
 * <p>A batch holds images as float32 [n, 3, size, size], normalised by ImageNet's mean (0.485,
 * 0.456, 0.406) and deviation (0.229, 0.224, 0.225), and labels as int64 [n]. In training a piece
 * of 8 % to 100 % of the image, of an aspect from 3:4 to 4:3, is cut out at random, resized, and
 * mirrored in half of all cases: a function of seed, epoch and sample. In evaluation the middle is
 * cut out, {@code size} of {@code resize} parts of the shorter side.
 *
 * <p>Images are decoded ahead of training on threads of their own, by what they are and not by
 * their names. One that cannot be decoded in full ends the run, or another stands for it.
 *
 * @param path the folder
 * @param size width and height of what the model sees
 * @param resize what the shorter side would be resized to in evaluation; null for size · 256 / 224
 * @param augment whether training cuts and mirrors at random
 * @param augmentation what else training does at random
 * @param onDamaged what happens when an image cannot be decoded in full
 * @param workers threads that load ahead
 */
@Summary("JPEG and PNG images in folders by class, in ImageNet's layout.")
public record ImageFolder(
    @Setting(doc = "Folder with train/<class>/* and val/<class>/*, JPEG or PNG.") Path path,
    @Setting(doc = "Width and height in pixels of what the model sees, at least 8.", def = "224")
        int size,
    @Setting(
            doc =
                "Shorter side in pixels in evaluation, before the middle is cut out; by default"
                    + " size*256/224.",
            def = "null")
        @Nullable Integer resize,
    @Setting(doc = "Whether training cuts and mirrors at random.", def = "true") boolean augment,
    @Setting(doc = "What else training does to images at random.", def = "{}")
        ImageAugmentation augmentation,
    @Setting(
            doc = "When an image cannot be decoded: stop, or skip it for another of its class.",
            def = "stop")
        OnDamaged onDamaged,
    @Setting(doc = "Threads that load ahead of training, at least 1.", def = "1", local = true)
        int workers)
    implements DataSource {

  /** Checks the settings. */
  public ImageFolder {
    Check.that(size >= 8 && size <= 4096, "size", "must be from 8 to 4096", size)
        .and(
            resize == null || resize >= size,
            "resize",
            "must be at least size " + size,
            "" + resize)
        .and(workers >= 1, "workers", "must be at least 1", workers)
        .and(
            augment || augmentation.equals(ImageAugmentation.NONE),
            "augmentation",
            "needs augment: true",
            augmentation)
        .orThrow();
  }

  /** Ends the run at a damaged image, and changes no colours. */
  public ImageFolder(Path path, int size, @Nullable Integer resize, boolean augment, int workers) {
    this(path, size, resize, augment, ImageAugmentation.NONE, OnDamaged.STOP, workers);
  }

  /** Describes a folder of images with everything else by default. */
  public static ImageFolder of(Path path, int size) {
    return new ImageFolder(path, size, null, true, 1);
  }

  @Override
  public void check() {
    var train = LabelledFiles.in(path.resolve("train"));
    train.requireSameClasses(LabelledFiles.in(path.resolve("val")));
  }

  @Override
  public Optional<SampleForm> form() {
    int classes = LabelledFiles.in(path.resolve("train")).classes().size();
    return Optional.of(new SampleForm.Images(3, size, size, classes));
  }

  @Override
  public OptionalInt trainingSize() {
    return OptionalInt.of(LabelledFiles.in(path.resolve("train")).files().size());
  }

  @Override
  public List<String> classNames() {
    return LabelledFiles.in(path.resolve("train")).classes();
  }

  @Override
  public String normalization() {
    return "RGB, " + FolderDataset.NORMALIZER;
  }

  @Override
  public Dataset train() {
    return new FolderDataset(LabelledFiles.in(path.resolve("train")), this, augment);
  }

  @Override
  public Dataset test() {
    return new FolderDataset(LabelledFiles.in(path.resolve("val")), this, false);
  }

  /** Returns the fraction of the shorter side that evaluation sees. */
  double middle() {
    return resize == null ? 224.0 / 256 : (double) size / resize;
  }
}
