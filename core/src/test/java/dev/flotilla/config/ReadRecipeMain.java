package dev.flotilla.config;

import java.nio.file.Path;

/** Reads a recipe in a process of its own, to see which classes that takes. */
final class ReadRecipeMain {

  private ReadRecipeMain() {}

  public static void main(String[] args) {
    var config = RunConfig.read(Recipe.read(Path.of(args[0])), TestCatalogue.catalogue());
    System.out.println(config.facts());
  }
}
