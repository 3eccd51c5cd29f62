package dev.flotilla.zoo.model;

import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import java.util.List;
import org.bytedeco.pytorch.global.torch;

/**
 * GroupNorm (Wu and He, 2018): as BatchNorm, but mean and variance are those of a group of channels
 * of one sample, so that a sample's output does not depend on its batch.
 *
 * @param name prefix of its parameters
 * @param channels channels it takes
 * @param groups number of groups, a divisor of the channels
 * @param scale where γ starts
 */
record GroupNorm(String name, long channels, long groups, double scale) implements Layer {

  private static final double EPSILON = 1e-5;

  @Override
  public List<ParameterSpec> parameters() {
    return Norm.parameters(name, channels, scale);
  }

  @Override
  public Bound bind(Weights weights) {
    var gamma = weights.inFloat32(name + ".weight");
    var beta = weights.inFloat32(name + ".bias");
    return (input, _) -> torch.group_norm(input, groups, gamma.get(), beta.get(), EPSILON, true);
  }

  @Override
  public OnnxValue addTo(OnnxGraph graph, OnnxValue input) {
    return OnnxLayers.groupNorm(graph, input, name, Math.toIntExact(groups), EPSILON);
  }
}
