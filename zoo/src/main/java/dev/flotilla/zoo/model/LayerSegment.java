package dev.flotilla.zoo.model;

import dev.flotilla.model.Activations;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Part;
import dev.flotilla.model.PartedSegment;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxExportable;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxValue;
import java.util.ArrayList;
import java.util.List;

/**
 * Layers one after the other as a segment.
 *
 * @param name what recipes and reports call it
 * @param layers what it does
 */
record LayerSegment(String name, Layers layers) implements PartedSegment, OnnxExportable {

  @Override
  public List<ParameterSpec> parameters() {
    return layers.parameters();
  }

  @Override
  public List<BufferSpec> buffers() {
    return layers.buffers();
  }

  @Override
  public List<Part> bindParts(Weights weights) {
    var sequentials = layers.bindSequentials(weights);
    List<Part> parts = new ArrayList<>();
    for (var sequential : sequentials) {
      String part = sequentials.size() == 1 ? name : name + "/" + (parts.size() + 1);
      parts.add(
          new Part(
              part,
              sequential.pooled(0),
              (input, mode) -> Activations.of(sequential.apply(input.only(), mode))));
    }
    return parts;
  }

  @Override
  public List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> inputs) {
    return List.of(layers.addTo(graph, inputs.getFirst()));
  }
}
