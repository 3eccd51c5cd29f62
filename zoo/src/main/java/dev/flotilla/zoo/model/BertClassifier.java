package dev.flotilla.zoo.model;

import dev.flotilla.model.Activations;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxExportable;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxValue;
import java.util.List;

/**
 * The last segment of BERT where sequences are classified.
 *
 * @param classes number of classes
 */
record BertClassifier(BertSizes sizes, int classes) implements Segment, OnnxExportable {

  @Override
  public String name() {
    return "classifier";
  }

  private Layers layers() {
    return Layers.of(
        BertPooler.of(sizes),
        Layers.dropout(sizes.hiddenDropoutProb()),
        sizes.linear("classifier", sizes.hiddenSize(), classes));
  }

  @Override
  public List<ParameterSpec> parameters() {
    return layers().parameters();
  }

  @Override
  public Forward bind(Weights weights) {
    var bound = layers().bind(weights);
    return (input, mode) -> Activations.of(bound.apply(input.tensors().get(0), mode));
  }

  @Override
  public List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> inputs) {
    return List.of(layers().addTo(graph, inputs.getFirst()));
  }
}
