package dev.flotilla.zoo.data;

import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The two files of a set of labelled images; each is looked for when it is needed, so that a
 * missing one does not hide what is wrong with the other.
 */
record ImageFiles(Supplier<IdxFile> images, Supplier<IdxFile> labels) {

  private static final int CLASSES = 10;

  static final List<String> CLASS_NAMES = List.of("0", "1", "2", "3", "4", "5", "6", "7", "8", "9");

  /** An image with its border. */
  static final SampleForm FORM = new SampleForm.Images(1, 32, 32, CLASSES);

  /** Finds what is wrong, reading the labels but hardly the images. */
  List<Problem> problems() {
    var problems = new ArrayList<Problem>();
    var count = attempt(() -> images.get().count(), problems);
    var classes = attempt(() -> labels.get().items(), problems);
    if (count.isPresent() && classes.isPresent()) {
      attempt(() -> requireLabels(count.get(), classes.get()), problems);
    }
    return problems;
  }

  private static <T> Optional<T> attempt(Supplier<T> step, List<Problem> problems) {
    try {
      return Optional.of(step.get());
    } catch (ConfigException e) {
      problems.addAll(e.problems());
      return Optional.empty();
    }
  }

  /** Reads both files whole. */
  ImageDataset load() {
    byte[] pixels = images.get().items();
    byte[] classes = labels.get().items();
    int count = pixels.length / IdxKind.IMAGES.itemBytes();
    return new ImageDataset(pixels, requireLabels(count, classes));
  }

  private byte[] requireLabels(int count, byte[] classes) {
    if (classes.length != count) {
      throw labels
          .get()
          .problem(
              "expected %d labels, one for each image, but found %d"
                  .formatted(count, classes.length));
    }
    for (int i = 0; i < classes.length; i++) {
      int label = Byte.toUnsignedInt(classes[i]);
      if (label >= CLASSES) {
        throw labels
            .get()
            .problem(
                "expected a label from 0 to %d at byte %d, but found %d"
                    .formatted(CLASSES - 1, IdxKind.LABELS.headerBytes() + i, label));
      }
    }
    return classes;
  }
}
