package dev.flotilla.model;

/**
 * A parameter as data.
 *
 * @param name published name, for example {@code conv1.weight}; equal names are one, tied,
 *     parameter
 * @param shape extents
 * @param kind what the parameter is, which decides about weight decay
 * @param initializer how it starts
 */
public record ParameterSpec(String name, Shape shape, Kind kind, Initializer initializer) {

  /** What a parameter is. */
  public enum Kind {
    /** A matrix or kernel. */
    WEIGHT,
    /** An offset added to an output. */
    BIAS,
    /** Scale or offset of a normalisation. */
    NORM
  }

  /** Returns a weight whose default start depends on its inputs per output. */
  public static ParameterSpec weight(String name, Shape shape, long fanIn) {
    return new ParameterSpec(name, shape, Kind.WEIGHT, Initializer.forFanIn(fanIn));
  }

  /** Returns a bias whose default start depends on its layer's inputs per output. */
  public static ParameterSpec bias(String name, long outputs, long fanIn) {
    return new ParameterSpec(name, Shape.of(outputs), Kind.BIAS, Initializer.forFanIn(fanIn));
  }
}
