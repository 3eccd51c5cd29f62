package dev.flotilla.zoo.model;

import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxValue;
import java.util.List;
import org.bytedeco.pytorch.Tensor;

/** A part of a segment that maps one tensor to one tensor. */
interface Layer {

  /** Returns the parameters in the order of the reference model. */
  List<ParameterSpec> parameters();

  /** Returns the buffers in the order of the reference model. */
  default List<BufferSpec> buffers() {
    return List.of();
  }

  /** Fetches the handles it needs, once. */
  Bound bind(Weights weights);

  /** Adds what it computes in evaluation to a graph, and returns what comes out. */
  OnnxValue addTo(OnnxGraph graph, OnnxValue input);

  /** A layer with its weights. */
  @FunctionalInterface
  interface Bound {
    Tensor apply(Tensor input, ForwardMode mode);
  }

  /** Returns a layer without parameters, and what it is in a graph. */
  static Layer of(Bound function, Node node) {
    return new Plain(function, node);
  }

  /** What a layer without parameters adds to a graph. */
  @FunctionalInterface
  interface Node {
    OnnxValue addTo(OnnxGraph graph, OnnxValue input);
  }

  /** A function as a layer. */
  record Plain(Bound function, Node node) implements Layer {

    @Override
    public List<ParameterSpec> parameters() {
      return List.of();
    }

    @Override
    public Bound bind(Weights weights) {
      return function;
    }

    @Override
    public OnnxValue addTo(OnnxGraph graph, OnnxValue input) {
      return node.addTo(graph, input);
    }
  }
}
