package dev.flotilla.zoo.model;

import dev.flotilla.model.BatchStatistics;
import dev.flotilla.model.BufferSpec;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Part;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * Layers one after the other, and the layers that have no parameters.
 *
 * @param layers in forward order
 */
record Layers(List<Layer> layers) implements Layer {

  private static final long[] ONE = {1, 1};

  Layers {
    layers = List.copyOf(layers);
  }

  static Layers of(Layer... layers) {
    return new Layers(List.of(layers));
  }

  /** max(0, ·), in the memory of its input, which no layer before it needs again. */
  static Layer rectifier() {
    return Layer.of((input, _) -> input.relu_(), OnnxGraph::relu);
  }

  /**
   * a + b, in the memory of a where both have the same dtype; in mixed precision the sum has the
   * larger one.
   */
  static Tensor sum(Tensor a, Tensor b) {
    return a.scalar_type().intern() == b.scalar_type().intern() ? a.add_(b) : a.add(b);
  }

  static Layer maxPool(long kernel, long stride, long padding) {
    var size = square(kernel);
    var step = square(stride);
    var border = square(padding);
    return Layer.of(
        (input, _) -> torch.max_pool2d(input, size, step, border, ONE, false),
        (graph, input) -> OnnxLayers.maxPool2d(graph, input, kernel, stride, padding));
  }

  /** The mean over each of side × side regions of the whole plane. */
  static Layer averagePool(int side) {
    var size = square(side);
    return Layer.of(
        (input, _) -> torch.adaptive_avg_pool2d(input, size),
        (graph, input) -> OnnxLayers.adaptiveAvgPool2d(graph, input, side));
  }

  static Layer flatten() {
    return Layer.of((input, _) -> input.flatten(1, -1), OnnxLayers::flatten);
  }

  static Layer dropout(double probability) {
    return Layer.of((input, mode) -> Dropout.apply(input, probability, mode), (_, input) -> input);
  }

  private static long[] square(long side) {
    return new long[] {side, side};
  }

  @Override
  public List<ParameterSpec> parameters() {
    return layers.stream().flatMap(layer -> layer.parameters().stream()).toList();
  }

  @Override
  public List<BufferSpec> buffers() {
    return layers.stream().flatMap(layer -> layer.buffers().stream()).toList();
  }

  @Override
  public Bound bind(Weights weights) {
    var bound = layers.stream().map(layer -> layer.bind(weights)).toList();
    return (input, mode) -> run(bound, input, mode);
  }

  @Override
  public OnnxValue addTo(OnnxGraph graph, OnnxValue input) {
    OnnxValue value = input;
    for (var layer : layers) {
      value = layer.addTo(graph, value);
    }
    return value;
  }

  /**
   * Layers that run together, after a BatchNorm that they start with, if any.
   *
   * @param norm the BatchNorm at the start, which is one of the layers
   * @param layers the layers, bound
   */
  record Sequential(@Nullable BatchStatistics norm, List<Bound> layers) implements Bound {
    @Override
    public Tensor apply(Tensor input, ForwardMode mode) {
      return run(layers, input, mode);
    }

    /** Returns the statistics that can be pooled before it runs on a tensor of its input. */
    List<Part.Pooled> pooled(int input) {
      return norm == null ? List.of() : List.of(new Part.Pooled(input, norm));
    }
  }

  /** Binds the layers, cut before every BatchNorm; without layers, one that does nothing. */
  List<Sequential> bindSequentials(Weights weights) {
    List<Sequential> sequentials = new ArrayList<>();
    BatchStatistics norm = null;
    List<Bound> together = new ArrayList<>();
    for (var layer : layers) {
      var bound = layer.bind(weights);
      if (bound instanceof BatchNorm.BoundNorm next) {
        sequentials.add(new Sequential(norm, List.copyOf(together)));
        together.clear();
        norm = next.statistics();
      }
      together.add(bound);
    }
    sequentials.add(new Sequential(norm, List.copyOf(together)));
    return sequentials;
  }

  private static Tensor run(List<Bound> layers, Tensor input, ForwardMode mode) {
    Tensor value = input;
    for (var layer : layers) {
      value = layer.apply(value, mode);
    }
    return value;
  }
}
