package dev.flotilla.onnx;

import java.util.List;

/**
 * What can describe itself as nodes of an ONNX graph. A segment that implements this can be
 * exported; a model can, if all of its segments do.
 */
public interface OnnxExportable {

  /**
   * Adds what it computes in evaluation, without dropout and by running statistics.
   *
   * @param inputs what comes in, for the first segment those of {@link #inputs}
   * @return what comes out, for the next segment
   */
  List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> inputs);

  /**
   * Returns what a model takes that begins with it; by default one tensor of samples.
   *
   * @param sampleShape extents of one sample; empty where nobody knows them
   * @throws IllegalArgumentException if they must be known
   */
  default List<OnnxValue> inputs(List<Long> sampleShape) {
    if (sampleShape.isEmpty()) {
      throw new IllegalArgumentException(
          "the shape of a sample is not known: state it, for example 3x224x224");
    }
    return List.of(OnnxValue.samples("input", sampleShape));
  }

  /** Returns names for what a model gives that ends with it; by default the exporter's. */
  default List<String> outputNames() {
    return List.of();
  }
}
