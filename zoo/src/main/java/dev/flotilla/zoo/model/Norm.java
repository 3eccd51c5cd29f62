package dev.flotilla.zoo.model;

import dev.flotilla.model.Initializer;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Shape;
import java.util.List;

/** Scale and offset of a normalisation, as parameters. */
final class Norm {

  private Norm() {}

  /** Returns a scale that starts at the given value and an offset that starts at zero. */
  static List<ParameterSpec> parameters(String name, long channels, double scale) {
    return List.of(
        parameter(name + ".weight", channels, scale), parameter(name + ".bias", channels, 0));
  }

  private static ParameterSpec parameter(String name, long channels, double start) {
    return new ParameterSpec(
        name, Shape.of(channels), ParameterSpec.Kind.NORM, new Initializer.Constant(start));
  }
}
