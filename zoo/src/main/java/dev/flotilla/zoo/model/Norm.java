package dev.flotilla.zoo.model;

import dev.flotilla.model.Initializer;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import java.util.List;
import java.util.function.Supplier;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/** Scale and offset of a normalisation, as parameters. */
final class Norm {

  private Norm() {}

  /** Returns a scale that starts at the given value and an offset that starts at zero. */
  static List<ParameterSpec> parameters(String name, long channels, double scale) {
    return List.of(
        parameter(name + ".weight", channels, scale), parameter(name + ".bias", channels, 0));
  }

  /**
   * Returns what libtorch's norms take for a parameter: itself, or in float32 for this call where
   * it has 16 bits, as they compute in float32 whatever comes in.
   */
  static Supplier<TensorOptional> wide(Weights weights, String name) {
    Tensor parameter = weights.parameter(name);
    var optional = weights.optional(name);
    return parameter.element_size() < Float.BYTES
        ? () -> new TensorOptional(parameter.to(torch.ScalarType.Float))
        : () -> optional;
  }

  private static ParameterSpec parameter(String name, long channels, double start) {
    return new ParameterSpec(
        name, Shape.of(channels), ParameterSpec.Kind.NORM, new Initializer.Constant(start));
  }
}
