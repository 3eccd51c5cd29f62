package dev.flotilla.zoo.model;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import dev.flotilla.zoo.model.FusedLayerNorm.Normalised;
import java.util.List;
import java.util.function.BiFunction;
import org.bytedeco.pytorch.Tensor;
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
    var norm = bound(weights);
    return (input, _) -> norm.apply(input, false).whole();
  }

  /** Normalises, with a copy for a product where that is done in bf16. */
  Copying bindCopying(Weights weights) {
    var norm = bound(weights);
    return input -> {
      var type = Autocast.current(ComputeDevice.of(input));
      return norm.apply(input, type == torch.ScalarType.BFloat16);
    };
  }

  /** A norm with its weights that may copy what it gives. */
  @FunctionalInterface
  interface Copying {
    Normalised apply(Tensor input);
  }

  private BiFunction<Tensor, Boolean, Normalised> bound(Weights weights) {
    var gamma = weights.inFloat32(name + ".weight");
    var beta = weights.inFloat32(name + ".bias");
    long[] shape = {width};
    return (input, copies) -> {
      var scale = gamma.get();
      var offset = beta.get();
      return FusedLayerNorm.of(
              input, new Tensor(scale.get()), new Tensor(offset.get()), epsilon, copies)
          .orElseGet(
              () -> {
                var output = torch.layer_norm(input, shape, scale, offset, epsilon, true);
                return new Normalised(output, output);
              });
    };
  }

  @Override
  public OnnxValue addTo(OnnxGraph graph, OnnxValue input) {
    return OnnxLayers.layerNorm(graph, input, name, epsilon);
  }
}
