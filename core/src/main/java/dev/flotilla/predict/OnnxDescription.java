package dev.flotilla.predict;

import dev.flotilla.data.SampleForm;
import dev.flotilla.memory.NativeView;
import dev.flotilla.model.Model;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Task;
import dev.flotilla.onnx.OnnxExportable;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxTensor;
import dev.flotilla.onnx.OnnxType;
import dev.flotilla.onnx.OnnxValue;
import dev.flotilla.settings.ConfigException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * A model in evaluation as a graph.
 *
 * @param sampleShape extents of one sample; empty where nobody knows them
 */
record OnnxDescription(Model model, List<Long> sampleShape) {

  /**
   * Requires that the model can be a graph, and that samples of the shape can go through.
   *
   * @throws ConfigException with what stands against it
   */
  void check() {
    for (var segment : model.segments()) {
      var _ = exportable(segment);
    }
    if (sampleShape.size() == 3) {
      var extents = sampleShape.stream().mapToInt(Math::toIntExact).toArray();
      model.checkSamples(new SampleForm.Images(extents[0], extents[1], extents[2], 0));
    }
  }

  private OnnxExportable exportable(Segment segment) {
    if (segment instanceof OnnxExportable exportable) {
      return exportable;
    }
    throw new ConfigException(
        "format",
        "segment '%s' of %s is code that calls libtorch, of which no ONNX graph can be made"
                .formatted(segment.name(), model.name())
            + "; export safetensors instead, or have the segment implement OnnxExportable");
  }

  /**
   * Builds the graph.
   *
   * @param state the model's parameters and buffers; they must stay until the graph is written, and
   *     so must the caller's scope
   */
  OnnxGraph build(Map<String, Tensor> state) {
    var graph = new OnnxGraph(name -> tensor(required(name, state.get(name))));
    try {
      var segments = model.segments();
      var values = exportable(segments.getFirst()).inputs(sampleShape);
      values.forEach(graph::input);
      for (var segment : segments) {
        graph.enter(segment.name());
        values = exportable(segment).addTo(graph, values);
      }
      addOutputs(graph, values, exportable(segments.getLast()).outputNames());
      return graph;
    } catch (IllegalArgumentException mistake) {
      throw new ConfigException("shape", String.valueOf(mistake.getMessage()));
    }
  }

  private static Tensor required(String name, @Nullable Tensor weight) {
    return Objects.requireNonNull(weight, () -> "the model states no parameter or buffer " + name);
  }

  private void addOutputs(OnnxGraph graph, List<OnnxValue> values, List<String> given) {
    var names = given.isEmpty() ? usualNames(values.size()) : given;
    for (int i = 0; i < names.size(); i++) {
      graph.output(names.get(i), values.get(i));
    }
  }

  private List<String> usualNames(int count) {
    String name = model.objective().task() == Task.CLASSIFICATION ? "logits" : "output";
    return count == 1
        ? List.of(name)
        : IntStream.range(0, count).mapToObj(i -> name + "_" + i).toList();
  }

  /** Runtimes know few operators in float64, so that all numbers are float32. */
  private static OnnxTensor tensor(Tensor weight) {
    var dense = weight.to(torch.ScalarType.Float).contiguous();
    var shape = Arrays.stream(dense.shape()).boxed().toList();
    return new OnnxTensor(OnnxType.FLOAT32, shape, NativeView.of(dense));
  }
}
