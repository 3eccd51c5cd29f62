package dev.flotilla.zoo.data;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The files of CIFAR-10, in the order of their numbers.
 *
 * @param training one file or more, without a gap
 * @param test the test images
 */
record CifarFolder(List<CifarFile> training, CifarFile test) {

  private static final int PUBLISHED_BATCHES = 5;

  /**
   * Finds the files in a folder, or in the folder that the published archive makes in it.
   *
   * @throws dev.flotilla.settings.ConfigException if there are none or one is missing
   */
  static CifarFolder find(Path path) {
    var folder = path.toAbsolutePath().normalize();
    if (!Files.isDirectory(folder)) {
      throw DataProblem.of(folder, "no such folder", "name the folder that holds CIFAR-10");
    }
    for (var place :
        List.of(
            folder,
            folder.resolve("cifar-10-batches-bin"),
            folder.resolve("cifar-10-batches-py"))) {
      if (Files.isRegularFile(place.resolve("data_batch_1.bin"))) {
        return in(place, ".bin");
      }
      if (Files.isRegularFile(place.resolve("data_batch_1"))) {
        return in(place, "");
      }
    }
    throw DataProblem.of(
        folder,
        "neither data_batch_1.bin nor data_batch_1 is there, in cifar-10-batches-bin or in"
            + " cifar-10-batches-py",
        "name the folder that holds CIFAR-10");
  }

  private static CifarFolder in(Path folder, String suffix) {
    List<CifarFile> training = new ArrayList<>();
    for (int i = 1; i <= PUBLISHED_BATCHES; i++) {
      var file = folder.resolve("data_batch_" + i + suffix);
      if (!Files.exists(file)) {
        requireNoneFrom(folder, i + 1, suffix, file);
        break;
      }
      training.add(CifarFile.of(file));
    }
    return new CifarFolder(training, CifarFile.of(folder.resolve("test_batch" + suffix)));
  }

  /** A few first files are a smaller data set; a gap is a mistake. */
  private static void requireNoneFrom(Path folder, int first, String suffix, Path missing) {
    for (int i = first; i <= PUBLISHED_BATCHES; i++) {
      var later = folder.resolve("data_batch_" + i + suffix);
      if (Files.exists(later)) {
        throw DataProblem.of(
            missing, "is missing, though %s is there".formatted(later.getFileName()), "");
      }
    }
  }
}
