package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a user wrote: a YAML document and the changes on top of it, each value with its place.
 *
 * <p>Anything wrong that does not hinder reading on (a tag, a duplicate key) waits here until the
 * recipe is bound to settings, so that it is reported together with the rest.
 */
public final class Recipe {

  private final Node.Mapping document;
  private final Problems problems;
  private final List<Change> changes;

  private Recipe(Node.Mapping document, Problems problems, List<Change> changes) {
    this.document = document;
    this.problems = problems;
    this.changes = List.copyOf(changes);
  }

  /**
   * Reads a recipe file.
   *
   * @throws ConfigException if there is no such file, or it is not YAML with a mapping on top
   */
  public static Recipe read(Path file) {
    return parse(file.toString(), RecipeFile.text(file));
  }

  /**
   * Reads a recipe from text.
   *
   * @param name how problems name it
   * @throws ConfigException if it is not YAML with a mapping on top
   */
  public static Recipe parse(String name, String text) {
    var problems = new Problems();
    Place file = Place.ofFile(Text.shown(name, 300));
    Node root = YamlReader.read(text, file, problems).orElseThrow(() -> notAMapping(file, "empty"));
    if (root instanceof Node.Mapping mapping) {
      return new Recipe(mapping.at(file), problems, List.of());
    }
    throw notAMapping(root.place(), root.shown());
  }

  /** Returns a recipe of plain values, such as {@link RunConfig#resolved()} gives. */
  public static Recipe of(String name, Map<String, ?> values) {
    return new Recipe(PlainValues.toNode(Place.ofFile(name), values), new Problems(), List.of());
  }

  /** Returns this recipe with changes on top, to be applied in order. */
  public Recipe overlay(List<Change> more) {
    var all = new ArrayList<>(changes);
    all.addAll(more);
    return new Recipe(document, problems, all);
  }

  /** Applies the changes, and adds what is wrong with document and changes to the problems. */
  Node.Mapping merged(Overlay overlay, Problems found) {
    found.addAll(problems);
    return overlay.apply(document, changes);
  }

  private static ConfigException notAMapping(Place place, String actual) {
    String message = "must be keys with values, such as 'model: lenet5', but was " + actual;
    return new ConfigException(List.of(new Problem(place.text(), "", message, "")));
  }
}
