package dev.flotilla.app;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * A recipe that comes with the command line; its first line says what it shows.
 *
 * @param name what it is asked for by
 */
record ExampleRecipe(String name) {

  /** The recipe of a run that names none. */
  static final ExampleRecipe DEFAULT = new ExampleRecipe("digits");

  /** All of them, in the order in which a reader meets them; a test compares the files. */
  static final List<ExampleRecipe> ALL =
      List.of(
              "digits",
              "clip",
              "gradient-merge",
              "recompute",
              "amp",
              "batch-norm",
              "fuse-all-reduce",
              "dgc",
              "exchange-auto",
              "powersgd",
              "localsgd",
              "adaptive-localsgd",
              "sharding",
              "ema",
              "watched")
          .stream()
          .map(ExampleRecipe::new)
          .toList();

  /** Returns the recipe. */
  String text() {
    try (var stream = ExampleRecipe.class.getResourceAsStream("recipes/" + name + ".yaml")) {
      if (stream == null) {
        throw new IllegalStateException("recipes/" + name + ".yaml is missing from the jar");
      }
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Returns what it shows, in a few words. */
  String title() {
    return text().lines().findFirst().orElseThrow().substring(2);
  }

  /** Returns the command that trains it. */
  String command() {
    return text().lines().skip(1).findFirst().orElseThrow().substring(1).strip();
  }
}
