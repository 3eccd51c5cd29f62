package dev.flotilla.checkpoint;

import java.nio.file.Path;

/** Saves three checkpoints and says so after each; a program to be killed. */
final class SaveThreeTimes {

  private SaveThreeTimes() {}

  public static void main(String[] args) {
    var saved = new SavedFolder(Path.of(args[0]), new OneThreadDisk(), 2, 1, 700);
    saved.take("writer");
    for (int number = 1; number <= 3; number++) {
      var failure = saved.save(number, "writer");
      System.out.println(failure.map(it -> "failed: " + it).orElse("saved " + number));
    }
  }
}
