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
import org.bytedeco.pytorch.TensorOptional;
import org.bytedeco.pytorch.global.torch;

/**
 * A convolution with a square kernel and zeros around, so that stride 1 keeps the size. It starts
 * as torchvision's models do: Gaussian with variance 2 / (outputs · kernel²), biases zero.
 *
 * @param name prefix of its parameters
 * @param inputs channels it takes
 * @param outputs channels it gives
 * @param kernel odd width and height of the kernel
 * @param stride step between two positions of the kernel
 * @param hasBias whether it adds a bias
 */
record Convolution(
    String name, long inputs, long outputs, long kernel, long stride, boolean hasBias)
    implements Layer {

  private static final long[] NO_DILATION = {1, 1};

  @Override
  public List<ParameterSpec> parameters() {
    var start = new Initializer.Normal(0, Math.sqrt(2.0 / (outputs * kernel * kernel)));
    var weight =
        new ParameterSpec(
            name + ".weight",
            Shape.of(outputs, inputs, kernel, kernel),
            ParameterSpec.Kind.WEIGHT,
            start);
    return hasBias ? List.of(weight, bias()) : List.of(weight);
  }

  private ParameterSpec bias() {
    var zero = new Initializer.Constant(0);
    return new ParameterSpec(name + ".bias", Shape.of(outputs), ParameterSpec.Kind.BIAS, zero);
  }

  @Override
  public Bound bind(Weights weights) {
    Tensor weight = weights.parameter(name + ".weight");
    var bias = hasBias ? weights.optional(name + ".bias") : weights.own(new TensorOptional());
    long[] step = {stride, stride};
    long[] padding = {kernel / 2, kernel / 2};
    return (input, _) -> torch.conv2d(input, weight, bias, step, padding, NO_DILATION, 1);
  }

  @Override
  public OnnxValue addTo(OnnxGraph graph, OnnxValue input) {
    String bias = hasBias ? name + ".bias" : null;
    return OnnxLayers.conv2d(graph, input, name + ".weight", bias, stride, kernel / 2);
  }
}
