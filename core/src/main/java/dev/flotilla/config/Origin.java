package dev.flotilla.config;

import org.jspecify.annotations.Nullable;

/**
 * Where the values of a {@link RunConfig} come from, for messages and names.
 *
 * <p>It is no value itself: all origins are equal, so that two configurations are equal when their
 * settings are.
 */
public final class Origin {

  private final Node.Mapping root;
  private final Catalogue catalogue;

  Origin(Node.Mapping root, Catalogue catalogue) {
    this.root = root;
    this.catalogue = catalogue;
  }

  /** Returns the origin of a configuration that a program makes itself. */
  public static Origin program(Catalogue catalogue) {
    return new Origin(Node.Mapping.empty(Place.ofFile("")), catalogue);
  }

  Catalogue catalogue() {
    return catalogue;
  }

  /** Returns where a dotted key was written, or else the nearest key around it. */
  Place placeOf(String dottedKey) {
    Node node = root;
    for (String key : dottedKey.split("\\.", -1)) {
      Node inner = node instanceof Node.Mapping mapping ? mapping.entries().get(key) : null;
      if (inner == null) {
        break;
      }
      node = inner;
    }
    return node.place();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Origin;
  }

  @Override
  public int hashCode() {
    return 0;
  }

  @Override
  public String toString() {
    return root.place().text();
  }
}
