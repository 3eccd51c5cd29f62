package dev.flotilla.zoo.data;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The images of a folder with one folder per class.
 *
 * @param folder the folder
 * @param classes names of classes, in order
 * @param files images in the order of class and name
 * @param labels class of each image
 */
record LabelledFiles(Path folder, List<String> classes, List<Path> files, List<Integer> labels) {

  private static final List<String> ENDINGS = List.of(".jpeg", ".jpg", ".png");

  /**
   * Lists a folder.
   *
   * @throws dev.flotilla.settings.ConfigException if there is none, a class has no image, or a file
   *     is no image by its name
   */
  static LabelledFiles in(Path folder) {
    var classes = entries(folder).stream().filter(Files::isDirectory).toList();
    if (classes.isEmpty()) {
      throw DataProblem.of(folder, "holds no folder, but one for each class is needed", "");
    }
    List<Path> files = new ArrayList<>();
    List<Integer> labels = new ArrayList<>();
    for (int label = 0; label < classes.size(); label++) {
      for (var file : images(classes.get(label))) {
        files.add(file);
        labels.add(label);
      }
    }
    var names = classes.stream().map(path -> path.getFileName().toString()).toList();
    return new LabelledFiles(folder, names, files, labels);
  }

  private static List<Path> images(Path folder) {
    var files = entries(folder);
    for (var file : files) {
      if (!isImage(file)) {
        throw DataProblem.of(
            file, "is not a .jpeg, .jpg or .png file", "remove it, or convert it to JPEG");
      }
    }
    if (files.isEmpty()) {
      throw DataProblem.of(folder, "the class has no image", "remove the folder, or fill it");
    }
    return files;
  }

  private static boolean isImage(Path file) {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    return Files.isRegularFile(file) && ENDINGS.stream().anyMatch(name::endsWith);
  }

  /** Returns what a folder holds, in the order of names, without hidden files. */
  private static List<Path> entries(Path folder) {
    if (!Files.isDirectory(folder)) {
      throw DataProblem.of(folder, "no such folder", "data.path must hold train and val");
    }
    try (var entries = Files.list(folder)) {
      return entries
          .filter(path -> !path.getFileName().toString().startsWith("."))
          .sorted()
          .toList();
    } catch (IOException e) {
      throw DataProblem.unreadable(folder, e);
    }
  }

  void requireSameClasses(LabelledFiles other) {
    if (!classes.equals(other.classes)) {
      var only = new ArrayList<>(classes);
      only.removeAll(other.classes);
      var others = new ArrayList<>(other.classes);
      others.removeAll(classes);
      throw DataProblem.of(
          other.folder,
          "must have the classes of %s, but lacks %s and has %s in addition"
              .formatted(folder, only, others),
          "");
    }
  }
}
