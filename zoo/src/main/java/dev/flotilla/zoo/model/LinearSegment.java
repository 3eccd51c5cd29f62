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
 * A fully connected layer over flattened inputs: W x + b, then max(0, ·) unless it is the last.
 *
 * @param name prefix of its parameters
 * @param inputs numbers per sample it takes
 * @param outputs numbers per sample it gives
 * @param isLast whether it gives logits
 * @param dropout fraction of outputs left out in training
 */
record LinearSegment(String name, long inputs, long outputs, boolean isLast, double dropout)
    implements Segment, OnnxExportable {

  @Override
  public List<ParameterSpec> parameters() {
    return List.of(
        ParameterSpec.weight(name + ".weight", Shape.of(outputs, inputs), inputs),
        ParameterSpec.bias(name + ".bias", outputs, inputs));
  }

  @Override
  public Forward bind(Weights weights) {
    Tensor weight = weights.parameter(name + ".weight");
    var bias = weights.optional(name + ".bias");
    return (input, mode) -> {
      Tensor x = input.only();
      Tensor flat = x.dim() == 2 ? x : x.flatten(1, -1);
      Tensor y = torch.linear(flat, weight, bias);
      Tensor activated = isLast ? y : y.relu_();
      return Activations.of(Dropout.apply(activated, dropout, mode));
    };
  }

  /** Any shape that has as many numbers will do, and a row where none is known. */
  @Override
  public List<OnnxValue> inputs(List<Long> sampleShape) {
    var shape = sampleShape.isEmpty() ? List.of(inputs) : sampleShape;
    return List.of(OnnxValue.samples("input", shape));
  }

  @Override
  public List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> given) {
    var x = given.getFirst();
    var flat = x.rank() == 2 ? x : OnnxLayers.flatten(graph, x);
    var y = OnnxLayers.linear(graph, flat, name);
    return List.of(isLast ? y : graph.relu(y));
  }
}
