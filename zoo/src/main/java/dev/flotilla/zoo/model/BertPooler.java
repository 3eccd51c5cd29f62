package dev.flotilla.zoo.model;

import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxValue;
import java.util.List;

/**
 * What BERT says about a whole sequence: tanh(W h + b) of the first token's state h.
 *
 * @param dense the fully connected layer
 */
record BertPooler(Linear dense) implements Layer {

  static BertPooler of(BertSizes sizes) {
    return new BertPooler(
        sizes.linear("bert.pooler.dense", sizes.hiddenSize(), sizes.hiddenSize()));
  }

  @Override
  public List<ParameterSpec> parameters() {
    return dense.parameters();
  }

  @Override
  public Bound bind(Weights weights) {
    var bound = dense.bind(weights);
    return (hidden, mode) -> bound.apply(hidden.select(1, 0), mode).tanh();
  }

  @Override
  public OnnxValue addTo(OnnxGraph graph, OnnxValue hidden) {
    return graph.like(dense.addTo(graph, graph.select(hidden, 1, 0)), "Tanh");
  }
}
