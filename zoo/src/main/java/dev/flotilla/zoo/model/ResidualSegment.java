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
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;

/**
 * max(0, main(x) + shortcut(x)): a block of a residual network.
 *
 * @param name what recipes and reports call it
 * @param main the layers that learn
 * @param shortcut makes the input fit the output; empty where it does already
 */
record ResidualSegment(String name, Layers main, Layers shortcut)
    implements PartedSegment, OnnxExportable {

  @Override
  public List<ParameterSpec> parameters() {
    return Stream.of(main, shortcut).flatMap(part -> part.parameters().stream()).toList();
  }

  @Override
  public List<BufferSpec> buffers() {
    return Stream.of(main, shortcut).flatMap(part -> part.buffers().stream()).toList();
  }

  /**
   * Between its parts two tensors pass: what the main branch has made so far, and the input or what
   * the shortcut has made of it.
   */
  @Override
  public List<Part> bindParts(Weights weights) {
    var mains = main.bindSequentials(weights);
    var shortcuts = shortcut.bindSequentials(weights);
    if (mains.size() == 1) {
      return List.of(new Part(name, whole(mains.getFirst(), shortcuts.getFirst())));
    }
    var first = mains.getFirst();
    List<Part> parts = new ArrayList<>();
    add(parts, first.pooled(0), (x, mode) -> Activations.of(first.apply(x.only(), mode), x.only()));
    for (var sequential : mains.subList(1, mains.size() - 1)) {
      add(
          parts,
          sequential.pooled(0),
          (input, mode) -> Activations.of(sequential.apply(at(input, 0), mode), at(input, 1)));
    }
    for (var sequential : shortcuts.subList(0, shortcuts.size() - 1)) {
      add(
          parts,
          sequential.pooled(1),
          (input, mode) -> Activations.of(at(input, 0), sequential.apply(at(input, 1), mode)));
    }
    var lastMain = mains.getLast();
    var lastShortcut = shortcuts.getLast();
    add(
        parts,
        Stream.of(lastMain.pooled(0), lastShortcut.pooled(1)).flatMap(List::stream).toList(),
        (input, mode) -> {
          Tensor y = lastMain.apply(at(input, 0), mode);
          return Activations.of(Layers.sum(y, lastShortcut.apply(at(input, 1), mode)).relu_());
        });
    return parts;
  }

  @Override
  public List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> inputs) {
    var x = inputs.getFirst();
    var sum = graph.add(main.addTo(graph, x), shortcut.addTo(graph, x));
    return List.of(graph.relu(sum));
  }

  private static Forward whole(Layer.Bound main, Layer.Bound shortcut) {
    return (input, mode) -> {
      Tensor y = main.apply(input.only(), mode);
      return Activations.of(Layers.sum(y, shortcut.apply(input.only(), mode)).relu_());
    };
  }

  private void add(List<Part> parts, List<Part.Pooled> pooled, Forward forward) {
    parts.add(new Part(name + "/" + (parts.size() + 1), pooled, forward));
  }

  private static Tensor at(Activations activations, int index) {
    return activations.tensors().get(index);
  }
}
