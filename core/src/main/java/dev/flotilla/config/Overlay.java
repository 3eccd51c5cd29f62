package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Puts values of the command line over those of a document, the later over the earlier. */
final class Overlay {

  private static final int DEEPEST = 50;

  private final SettingsShape shape;
  private final Catalogue catalogue;
  private final Problems problems;

  /**
   * Creates an overlay.
   *
   * @param shape the record that the document will be bound to; says which keys exclude each other
   *     and which are written as a bare name
   */
  Overlay(SettingsShape shape, Catalogue catalogue, Problems problems) {
    this.shape = shape;
    this.catalogue = catalogue;
    this.problems = problems;
  }

  Node.Mapping apply(Node.Mapping document, List<Change> changes) {
    shape.refuseBothAlternatives("", document, problems);
    Node.Mapping root = document;
    for (int i = 0; i < changes.size(); i++) {
      root = apply(root, changes.get(i), Place.ofOption(i + 1, changes.get(i).where()));
    }
    return root;
  }

  private Node.Mapping apply(Node.Mapping root, Change change, Place place) {
    int equals = change.assignment().indexOf('=');
    List<String> path = path(change.assignment().substring(0, Math.max(0, equals)));
    if (equals < 0 || path.contains("") || path.size() > DEEPEST) {
      problems.add(place, "", "must be written key=value, for example --set optimizer.lr=0.1");
      return root;
    }
    String text = change.assignment().substring(equals + 1);
    return value(text, place).flatMap(value -> put(root, path, "", value)).orElse(root);
  }

  private static List<String> path(String dottedKey) {
    return List.of(dottedKey.strip().split("\\.", -1));
  }

  private Optional<Node> value(String text, Place place) {
    try {
      Node nothing = new Node.Scalar(place, "", true);
      return Optional.of(YamlReader.read(text, place, problems).orElse(nothing).at(place));
    } catch (ConfigException e) {
      e.problems().forEach(p -> problems.add(place, p.key(), "the value " + p.message()));
      return Optional.empty();
    }
  }

  private Optional<Node.Mapping> put(
      Node.Mapping into, List<String> path, String outer, Node value) {
    String key = path.getFirst();
    if (path.size() == 1) {
      return Optional.of(withoutAlternative(into, outer, key, value).with(key, value));
    }
    String dotted = Text.dotted(outer, key);
    return opened(into.entries().get(key), dotted, path.get(1), value.place())
        .flatMap(inner -> put(inner, path.subList(1, path.size()), dotted, value))
        .map(inner -> into.with(key, inner));
  }

  private Node.Mapping withoutAlternative(Node.Mapping into, String outer, String key, Node value) {
    if (!outer.isEmpty() || value.isNull()) {
      return into;
    }
    return shape.keys().stream()
        .filter(known -> known.name().equals(key) && known.hasAlternative())
        .findFirst()
        .map(known -> into.without(known.setting().insteadOf()))
        .orElse(into);
  }

  private Optional<Node.Mapping> opened(
      @Nullable Node node, String dotted, String inner, Place place) {
    if (node == null || node.isNull()) {
      return Optional.of(Node.Mapping.empty(place));
    }
    if (node instanceof Node.Mapping mapping) {
      return Optional.of(mapping);
    }
    if (node instanceof Node.Scalar && isWrittenAsName(dotted)) {
      var entries = new LinkedHashMap<String, Node>();
      entries.put(NamedBinder.NAME, node);
      return Optional.of(new Node.Mapping(node.place(), entries));
    }
    String there = node.shown() + " (" + node.place().text() + ")";
    problems.add(place, dotted, "is " + there + ", so it has no key " + Text.quoted(inner));
    return Optional.empty();
  }

  private boolean isWrittenAsName(String key) {
    return shape.keys().stream()
        .anyMatch(known -> known.name().equals(key) && catalogue.hasKind(known.type()));
  }
}
