package dev.flotilla.config;

import dev.flotilla.settings.ConfigException;
import dev.flotilla.settings.Problem;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;

/**
 * Reads one YAML document into nodes.
 *
 * <p>It works on the parser's events rather than on its nodes: events still show which tags were
 * written, and depth and aliases are limited before anything is built from them. Like the rest of
 * the way from file to settings it avoids pattern switches and formatters, which take tens of
 * milliseconds when a process uses its first one.
 */
final class YamlReader {

  private static final String MERGE = "<<";
  private static final String MERGE_FIX =
      "write the keys out, or give a whole value by its alias, as in 'optimizer: *common'";
  private static final int DEEPEST = 50;
  private static final int MOST_VALUES = 100_000;

  private final Place file;
  private final Problems problems;
  private final Iterator<Event> events;
  private final Map<Anchor, Anchored> anchors = new HashMap<>();
  private int values;
  private int deepest;

  private record Anchored(Node node, int values, int height) {}

  private YamlReader(String text, Place file, Problems problems) {
    this.file = file;
    this.problems = problems;
    var settings = LoadSettings.builder().setLabel(file.text()).build();
    this.events = new ParserImpl(settings, new StreamReader(settings, text));
  }

  /**
   * Reads the only document of a text; nothing if there is none. Tags and duplicate keys are added
   * to the problems.
   *
   * @throws ConfigException if the text is not YAML or breaks a limit
   */
  static Optional<Node> read(String text, Place file, Problems problems) {
    try {
      return new YamlReader(text, file, problems).document();
    } catch (YamlEngineException e) {
      throw YamlMistake.of(e, text, file);
    }
  }

  private Optional<Node> document() {
    next(Event.ID.StreamStart);
    if (!isDocument(events.next())) {
      return Optional.empty();
    }
    Node root = node(events.next(), "", 1);
    next(Event.ID.DocumentEnd);
    Event after = events.next();
    if (isDocument(after)) {
      throw refused(place(after), "must be one YAML document, but a second one starts here");
    }
    return Optional.of(root);
  }

  private static boolean isDocument(Event event) {
    return event.getEventId() == Event.ID.DocumentStart;
  }

  private void next(Event.ID expected) {
    Event event = events.next();
    if (event.getEventId() != expected) {
      throw new IllegalStateException("expected " + expected + ", but the parser gave " + event);
    }
  }

  private Node node(Event event, String key, int depth) {
    refuseDepth(depth, event);
    if (event instanceof AliasEvent alias) {
      return aliased(alias, depth);
    }
    refuseTag(event, key);
    int valuesBefore = values;
    int deepestBefore = deepest;
    deepest = depth;
    count(1, event);
    Node node = content(event, key, depth);
    ((NodeEvent) event)
        .getAnchor()
        .ifPresent(a -> anchors.put(a, new Anchored(node, values - valuesBefore, deepest - depth)));
    deepest = Math.max(deepest, deepestBefore);
    return node;
  }

  private Node content(Event event, String key, int depth) {
    if (event instanceof ScalarEvent scalar) {
      return new Node.Scalar(place(event), scalar.getValue(), scalar.isPlain());
    }
    return event instanceof MappingStartEvent
        ? mapping(event, key, depth)
        : sequence(event, key, depth);
  }

  private Node aliased(AliasEvent alias, int depth) {
    Anchored target = anchors.get(alias.getAlias());
    if (target == null) {
      String name = Text.quoted("*" + alias.getAlias().getValue());
      throw refused(place(alias), "alias " + name + " has no anchor that ends before it");
    }
    refuseDepth(depth + target.height(), alias);
    deepest = Math.max(deepest, depth + target.height());
    count(target.values(), alias);
    return target.node();
  }

  private Node sequence(Event start, String key, int depth) {
    List<Node> items = new ArrayList<>();
    for (Event item = events.next(); isInside(item); item = events.next()) {
      items.add(node(item, key, depth + 1));
    }
    return new Node.Sequence(place(start), items);
  }

  private Node mapping(Event start, String outer, int depth) {
    var entries = new LinkedHashMap<String, Node>();
    for (Event event = events.next(); isInside(event); event = events.next()) {
      String name = keyText(node(event, outer, depth + 1));
      String key = Text.dotted(outer, name);
      Place place = place(event);
      Node value = node(events.next(), key, depth + 1).at(place);
      if (name.equals(MERGE)) {
        problems.add(place, key, "merging is no part of YAML 1.2 and is not done", MERGE_FIX);
        continue;
      }
      Node first = entries.putIfAbsent(name, value);
      if (first != null) {
        problems.add(place, key, "is given twice; the first is at " + first.place().text());
      }
    }
    return new Node.Mapping(place(start), entries);
  }

  private static boolean isInside(Event event) {
    return switch (event.getEventId()) {
      case SequenceEnd, MappingEnd -> false;
      default -> true;
    };
  }

  private static String keyText(Node key) {
    if (key instanceof Node.Scalar scalar && !scalar.text().isEmpty()) {
      return scalar.text();
    }
    throw refused(key.place(), "a key must be a word, but was " + key.shown());
  }

  private void refuseTag(Event event, String key) {
    Optional<String> tag =
        event instanceof ScalarEvent scalar
            ? scalar.getTag()
            : ((CollectionStartEvent) event).getTag();
    if (tag.isPresent()) {
      problems.add(place(event), key, "tags are not allowed: " + Text.quoted(tag.get()));
    }
  }

  private void refuseDepth(int depth, Event event) {
    if (depth > DEEPEST) {
      throw refused(place(event), "is nested deeper than " + DEEPEST + " levels");
    }
  }

  private void count(int more, Event event) {
    values += more;
    if (values > MOST_VALUES) {
      String limit = "%,d".formatted(MOST_VALUES);
      throw refused(place(event), "has more than " + limit + " values, aliases written out");
    }
  }

  private Place place(Event event) {
    return event.getStartMark().map(mark -> file.line(mark.getLine() + 1)).orElse(file);
  }

  private static ConfigException refused(Place place, String message) {
    return new ConfigException(List.of(new Problem(place.text(), "", message, "")));
  }
}
