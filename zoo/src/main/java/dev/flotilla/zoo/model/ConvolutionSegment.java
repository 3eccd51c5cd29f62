package dev.flotilla.zoo.model;

import dev.flotilla.model.Activations;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxExportable;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * A convolution without padding, max(0, ·), and a 2×2 maximum.
 *
 * @param name prefix of its parameters
 * @param inputs channels it takes
 * @param outputs channels it gives
 * @param kernel width and height of the kernel
 */
record ConvolutionSegment(String name, long inputs, long outputs, long kernel)
    implements Segment, OnnxExportable {

  private static final long[] ONE = {1, 1};
  private static final long[] NONE = {0, 0};
  private static final long[] TWO = {2, 2};

  @Override
  public List<ParameterSpec> parameters() {
    long fanIn = inputs * kernel * kernel;
    var shape = Shape.of(outputs, inputs, kernel, kernel);
    return List.of(
        ParameterSpec.weight(name + ".weight", shape, fanIn),
        ParameterSpec.bias(name + ".bias", outputs, fanIn));
  }

  @Override
  public Forward bind(Weights weights) {
    Tensor weight = weights.parameter(name + ".weight");
    var bias = weights.optional(name + ".bias");
    return (input, _) -> {
      Tensor y = torch.conv2d(input.only(), weight, bias, ONE, NONE, ONE, 1);
      return Activations.of(
          RectifiedMaximum.of(y)
              .orElseGet(() -> torch.max_pool2d(y.relu_(), TWO, TWO, NONE, ONE, false)));
    };
  }

  @Override
  public List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> given) {
    var y = OnnxLayers.conv2d(graph, given.getFirst(), name + ".weight", name + ".bias", 1, 0);
    return List.of(OnnxLayers.maxPool2d(graph, graph.relu(y), 2, 2, 0));
  }
}
