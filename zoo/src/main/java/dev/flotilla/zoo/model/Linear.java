package dev.flotilla.zoo.model;

import dev.flotilla.model.Initializer;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * W x + b over the last axis.
 *
 * @param name prefix of its parameters
 * @param inputs numbers it takes
 * @param outputs numbers it gives
 * @param weightStart how the matrix starts
 * @param biasStart how the offset starts
 */
record Linear(
    String name, long inputs, long outputs, Initializer weightStart, Initializer biasStart)
    implements Layer {

  /** Starts as PyTorch's own linear layer does. */
  static Linear byDefault(String name, long inputs, long outputs) {
    var start = Initializer.forFanIn(inputs);
    return new Linear(name, inputs, outputs, start, start);
  }

  /** Starts Gaussian, with offsets zero. */
  static Linear gaussian(String name, long inputs, long outputs, double deviation) {
    return new Linear(
        name, inputs, outputs, new Initializer.Normal(0, deviation), new Initializer.Constant(0));
  }

  @Override
  public List<ParameterSpec> parameters() {
    return List.of(
        new ParameterSpec(
            name + ".weight", Shape.of(outputs, inputs), ParameterSpec.Kind.WEIGHT, weightStart),
        new ParameterSpec(name + ".bias", Shape.of(outputs), ParameterSpec.Kind.BIAS, biasStart));
  }

  @Override
  public Bound bind(Weights weights) {
    Tensor weight = weights.parameter(name + ".weight");
    var bias = weights.optional(name + ".bias");
    return (input, _) -> torch.linear(input, weight, bias);
  }

  @Override
  public OnnxValue addTo(OnnxGraph graph, OnnxValue input) {
    return OnnxLayers.linear(graph, input, name);
  }
}
