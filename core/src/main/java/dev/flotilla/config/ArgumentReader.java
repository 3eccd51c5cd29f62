package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import dev.flotilla.text.NearestName;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** Reads {@code RECIPE [--set key=value]… [--max-steps N] [--out DIR] [-- own arguments]}. */
final class ArgumentReader {

  private static final List<String> OPTIONS = List.of("--set", "--max-steps", "--out");

  private final Deque<String> words;
  private final List<Change> changes = new ArrayList<>();
  private final List<String> rest = new ArrayList<>();
  private Optional<Path> recipe = Optional.empty();
  private Optional<Path> out = Optional.empty();

  private ArgumentReader(List<String> args) {
    this.words = new ArrayDeque<>(args);
  }

  static RunArguments read(List<String> args, Catalogue catalogue) {
    var reader = new ArgumentReader(args);
    reader.readAll();
    Path file = reader.recipe.orElseThrow(() -> refused("RECIPE", "name a recipe file first"));
    var config = RunConfig.read(Recipe.read(file).overlay(reader.changes), catalogue);
    return new RunArguments(config, reader.out, reader.rest);
  }

  private void readAll() {
    while (!words.isEmpty()) {
      String word = words.pop();
      switch (word) {
        case "--" -> readRest();
        case "--set" -> changes.add(Change.set(value(word)));
        case "--max-steps" -> changes.add(Change.option(word, "max_steps", value(word)));
        case "--out" -> out = Optional.of(path(word, value(word)));
        default -> readWord(word);
      }
    }
  }

  private void readRest() {
    rest.addAll(words);
    words.clear();
  }

  private void readWord(String word) {
    if (word.startsWith("-")) {
      String allowed = " (allowed: " + String.join(", ", OPTIONS) + "; own arguments after --)";
      throw refused(Text.shown(word), "unknown option" + NearestName.hint(word, OPTIONS) + allowed);
    }
    if (recipe.isEmpty()) {
      recipe = Optional.of(path("RECIPE", word));
    } else {
      rest.add(word);
    }
  }

  private String value(String option) {
    if (words.isEmpty()) {
      throw refused(option, "needs a value");
    }
    return words.pop();
  }

  private static Path path(String where, String text) {
    try {
      return (Path) new ScalarType.FilePath().read(new Node.Scalar(Place.ofFile(""), text, false));
    } catch (ConfigException e) {
      throw refused(where, e.problems().getFirst().message());
    }
  }

  private static ConfigException refused(String where, String message) {
    return new ConfigException(List.of(new Problem(where, "", message, "")));
  }
}
