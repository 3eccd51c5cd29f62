package dev.flotilla.config;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** A value of a recipe as it was written, before anything is known about its type. */
sealed interface Node {

  /** Returns where this value was written; a value in a mapping stands where its key stands. */
  Place place();

  /** Returns the same value at another place. */
  Node at(Place place);

  /** Returns this value as a message names it. */
  String shown();

  /** Tells whether nothing, {@code null} or {@code ~} was written. */
  default boolean isNull() {
    return false;
  }

  /** Keys with values, in the order in which they were written. */
  record Mapping(Place place, SequencedMap<String, Node> entries) implements Node {

    public Mapping {
      entries = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(entries));
    }

    static Mapping empty(Place place) {
      return new Mapping(place, new LinkedHashMap<>());
    }

    /** Returns a copy in which a key has another value. */
    Mapping with(String key, Node value) {
      var changed = new LinkedHashMap<>(entries);
      changed.put(key, value);
      return new Mapping(place, changed);
    }

    /** Returns a copy that lacks a key. */
    Mapping without(String key) {
      var changed = new LinkedHashMap<>(entries);
      changed.remove(key);
      return new Mapping(place, changed);
    }

    /** Tells whether a key has a value other than null. */
    boolean states(String key) {
      Node value = entries.get(key);
      return value != null && !value.isNull();
    }

    /** Returns where a key was written, or this mapping's place if it was not. */
    Place placeOf(String key) {
      Node value = entries.get(key);
      return value == null ? place : value.place();
    }

    @Override
    public Mapping at(Place elsewhere) {
      return new Mapping(elsewhere, entries);
    }

    @Override
    public String shown() {
      return "a mapping";
    }
  }

  /** Values in a row. */
  record Sequence(Place place, List<Node> items) implements Node {

    public Sequence {
      items = List.copyOf(items);
    }

    @Override
    public Sequence at(Place elsewhere) {
      return new Sequence(elsewhere, items);
    }

    @Override
    public String shown() {
      return "a list";
    }
  }

  /**
   * A single value.
   *
   * @param plain whether it was written without quotes, so that it may be a number or null
   */
  record Scalar(Place place, String text, boolean plain) implements Node {

    @Override
    public boolean isNull() {
      return plain
          && switch (text) {
            case "", "~", "null", "Null", "NULL" -> true;
            default -> false;
          };
    }

    @Override
    public Scalar at(Place elsewhere) {
      return new Scalar(elsewhere, text, plain);
    }

    @Override
    public String shown() {
      if (isNull()) {
        return "empty";
      }
      return plain ? Text.quoted(text) : "the text \"" + Text.shown(text) + "\"";
    }
  }
}
