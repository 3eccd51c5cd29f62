package dev.flotilla.zoo.model;

import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import java.util.List;
import org.bytedeco.pytorch.global.torch;

/**
 * LayerNorm over the last axis (Ba et al., 2016).
 *
 * @param name prefix of its parameters
 * @param width length of the last axis
 * @param epsilon added to the variance
 */
record LayerNorm(String name, long width, double epsilon) implements Layer {

  @Override
  public List<ParameterSpec> parameters() {
    return Norm.parameters(name, width, 1);
  }

  @Override
  public Bound bind(Weights weights) {
    var gamma = weights.inFloat32(name + ".weight");
    var beta = weights.inFloat32(name + ".bias");
    long[] shape = {width};
    return (input, _) -> torch.layer_norm(input, shape, gamma.get(), beta.get(), epsilon, true);
  }

  @Override
  public OnnxValue addTo(OnnxGraph graph, OnnxValue input) {
    return OnnxLayers.layerNorm(graph, input, name, epsilon);
  }
}
