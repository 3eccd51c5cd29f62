package dev.flotilla.model;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The extents of a tensor.
 *
 * @param dimensions extents, outermost first; empty for a single number
 */
public record Shape(List<Long> dimensions) {

  /** Checks that no extent is negative. */
  public Shape {
    dimensions = List.copyOf(dimensions);
    if (dimensions.stream().anyMatch(extent -> extent < 0)) {
      throw new IllegalArgumentException("extents must not be negative: " + dimensions);
    }
  }

  /** Returns a shape of the given extents. */
  public static Shape of(long... extents) {
    return new Shape(java.util.Arrays.stream(extents).boxed().toList());
  }

  /** Returns the number of elements. */
  public long elements() {
    return dimensions.stream().reduce(1L, Math::multiplyExact);
  }

  /** Returns the extents as an array for the binding. */
  public long[] toArray() {
    return dimensions.stream().mapToLong(Long::longValue).toArray();
  }

  /** Returns a text like {@code 6x1x5x5}; {@code scalar} for a single number. */
  @Override
  public String toString() {
    return dimensions.isEmpty()
        ? "scalar"
        : dimensions.stream().map(String::valueOf).collect(Collectors.joining("x"));
  }
}
