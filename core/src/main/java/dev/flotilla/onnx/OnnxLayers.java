package dev.flotilla.onnx;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The layers that networks are made of, as operators of a graph, by the names and with the meaning
 * that they have in PyTorch. Weights are those of the model, by their names.
 */
public final class OnnxLayers {

  private OnnxLayers() {}

  /** Returns W x + b over the last axis, with {@code name.weight} and {@code name.bias}. */
  public static OnnxValue linear(OnnxGraph graph, OnnxValue x, String name) {
    return linear(graph, x, name + ".weight", name + ".bias");
  }

  /** Returns W x + b over the last axis. */
  public static OnnxValue linear(OnnxGraph graph, OnnxValue x, String weight, String bias) {
    var matrix = graph.weight(weight);
    requireSame(weight, "numbers per sample", matrix.extent(1), x.extent(-1));
    var shape = x.shapeWith(-1, matrix.extent(0));
    if (x.rank() == 2) {
      return graph.node(
          "Gemm",
          x.type(),
          shape,
          List.of(x, matrix, graph.weight(bias)),
          OnnxAttribute.of("transB", 1));
    }
    return graph.add(graph.matmul(x, graph.transpose(matrix, 1, 0)), graph.weight(bias));
  }

  private static void requireSame(String weight, String what, OnnxExtent own, OnnxExtent given) {
    if (given.isKnown() && own.size() != given.size()) {
      throw new IllegalArgumentException(
          "%s takes %s %s, but gets %s: the samples have another shape than the model wants"
              .formatted(weight, own, what, given));
    }
  }

  /**
   * Returns a convolution of images [n, channels, height, width].
   *
   * @param bias name of what is added to each channel, or null
   */
  public static OnnxValue conv2d(
      OnnxGraph graph, OnnxValue x, String weight, @Nullable String bias, long stride, long pad) {
    var kernels = graph.weight(weight);
    requireSame(weight, "channels", kernels.extent(1), x.extent(1));
    long height = kernels.extent(2).size();
    long width = kernels.extent(3).size();
    List<OnnxValue> operands = new ArrayList<>(List.of(x, kernels));
    if (bias != null) {
      operands.add(graph.weight(bias));
    }
    return graph.node(
        "Conv",
        x.type(),
        List.of(
            x.extent(0),
            kernels.extent(0),
            placed(x.extent(2), height, stride, pad),
            placed(x.extent(3), width, stride, pad)),
        operands,
        OnnxAttribute.ofRow("kernel_shape", height, width),
        OnnxAttribute.ofRow("strides", stride, stride),
        OnnxAttribute.ofRow("pads", pad, pad, pad, pad));
  }

  /** Returns the maximum over each place of a square window. */
  public static OnnxValue maxPool2d(
      OnnxGraph graph, OnnxValue x, long kernel, long stride, long pad) {
    return graph.node(
        "MaxPool",
        x.type(),
        List.of(
            x.extent(0),
            x.extent(1),
            placed(x.extent(2), kernel, stride, pad),
            placed(x.extent(3), kernel, stride, pad)),
        List.of(x),
        OnnxAttribute.ofRow("kernel_shape", kernel, kernel),
        OnnxAttribute.ofRow("strides", stride, stride),
        OnnxAttribute.ofRow("pads", pad, pad, pad, pad));
  }

  /** Returns how many places a window has. */
  private static OnnxExtent placed(OnnxExtent extent, long kernel, long stride, long pad) {
    if (!extent.isKnown()) {
      return OnnxExtent.UNKNOWN;
    }
    long room = extent.size() + 2 * pad - kernel;
    if (room < 0) {
      throw new IllegalArgumentException(
          "an image that has %s pixels left is too small for a window of %d: the samples must be larger"
              .formatted(extent, kernel));
    }
    return OnnxExtent.of(room / stride + 1);
  }

  /**
   * Returns the mean over each of side × side regions of the whole plane. Regions may overlap,
   * which no pooling of ONNX knows: they are products with two matrices then.
   */
  public static OnnxValue adaptiveAvgPool2d(OnnxGraph graph, OnnxValue x, int side) {
    if (side == 1) {
      var one = OnnxExtent.of(1);
      var shape = List.of(x.extent(0), x.extent(1), one, one);
      return graph.node("GlobalAveragePool", x.type(), shape, List.of(x));
    }
    var height = x.extent(2);
    var width = x.extent(3);
    if (!height.isKnown() || !width.isKnown()) {
      throw new IllegalArgumentException(
          "the mean over %1$dx%1$d regions needs images of a known size: state the shape of a sample"
              .formatted(side));
    }
    if (height.size() == side && width.size() == side) {
      return x;
    }
    var rows = graph.constant(regions(side, height.size()));
    var columns = graph.constant(regions(side, width.size()));
    return graph.matmul(graph.matmul(rows, x), graph.transpose(columns, 1, 0));
  }

  /** Returns, for each region, the weight of each place. */
  private static OnnxTensor regions(int side, long extent) {
    int places = Math.toIntExact(extent);
    var shares = new float[side * places];
    for (int i = 0; i < side; i++) {
      int from = i * places / side;
      int to = Math.ceilDiv((i + 1) * places, side);
      for (int place = from; place < to; place++) {
        shares[i * places + place] = 1f / (to - from);
      }
    }
    return OnnxTensor.of(List.of((long) side, extent), shares);
  }

  /** Returns each sample as one row. */
  public static OnnxValue flatten(OnnxGraph graph, OnnxValue x) {
    var rest = x.shape().subList(1, x.rank());
    var numbers =
        rest.stream().allMatch(OnnxExtent::isKnown)
            ? OnnxExtent.of(rest.stream().mapToLong(OnnxExtent::size).reduce(1, (a, b) -> a * b))
            : OnnxExtent.UNKNOWN;
    var shape = List.of(x.extent(0), numbers);
    return graph.node("Flatten", x.type(), shape, List.of(x), OnnxAttribute.of("axis", 1));
  }

  /** Returns x normalised by the running statistics of each channel. */
  public static OnnxValue batchNorm(OnnxGraph graph, OnnxValue x, String name, double epsilon) {
    return graph.node(
        "BatchNormalization",
        x.type(),
        x.shape(),
        List.of(
            x,
            graph.weight(name + ".weight"),
            graph.weight(name + ".bias"),
            graph.weight(name + ".running_mean"),
            graph.weight(name + ".running_var")),
        OnnxAttribute.of("epsilon", epsilon));
  }

  /** Returns x normalised over the last axis. */
  public static OnnxValue layerNorm(OnnxGraph graph, OnnxValue x, String name, double epsilon) {
    return graph.node(
        "LayerNormalization",
        x.type(),
        x.shape(),
        List.of(x, graph.weight(name + ".weight"), graph.weight(name + ".bias")),
        OnnxAttribute.of("axis", -1),
        OnnxAttribute.of("epsilon", epsilon));
  }

  /** Returns images normalised over groups of channels, each group as if it were one channel. */
  public static OnnxValue groupNorm(
      OnnxGraph graph, OnnxValue x, String name, int groups, double epsilon) {
    var grouped = graph.reshape(x, 0, groups, -1);
    var normed =
        graph.node(
            "InstanceNormalization",
            x.type(),
            grouped.shape(),
            List.of(grouped, filled(graph, groups, 1), filled(graph, groups, 0)),
            OnnxAttribute.of("epsilon", epsilon));
    var shape = graph.node("Shape", OnnxType.INT64, List.of(OnnxExtent.of(x.rank())), List.of(x));
    var restored = graph.node("Reshape", x.type(), x.shape(), List.of(normed, shape));
    var scale = graph.unsqueeze(graph.weight(name + ".weight"), 1, 2);
    var offset = graph.unsqueeze(graph.weight(name + ".bias"), 1, 2);
    return graph.add(graph.mul(restored, scale), offset);
  }

  private static OnnxValue filled(OnnxGraph graph, int count, float value) {
    var values = new float[count];
    java.util.Arrays.fill(values, value);
    return graph.constant(OnnxTensor.of(List.of((long) count), values));
  }

  /** Returns x Φ(x), Φ the distribution function of the normal distribution. */
  public static OnnxValue gelu(OnnxGraph graph, OnnxValue x) {
    var erf = graph.like(graph.mul(x, graph.constant(Math.sqrt(0.5))), "Erf");
    var twice = graph.mul(x, graph.add(erf, graph.constant(1.0)));
    return graph.mul(twice, graph.constant(0.5));
  }

  /** Returns softmax over the last axis. */
  public static OnnxValue softmax(OnnxGraph graph, OnnxValue x) {
    return graph.node("Softmax", x.type(), x.shape(), List.of(x), OnnxAttribute.of("axis", -1));
  }

  /** Returns the rows of a matrix that numbers name. */
  public static OnnxValue embedding(OnnxGraph graph, OnnxValue numbers, String weight) {
    var matrix = graph.weight(weight);
    List<OnnxExtent> shape = new ArrayList<>(numbers.shape());
    shape.add(matrix.extent(1));
    return graph.node("Gather", matrix.type(), shape, List.of(matrix, numbers));
  }
}
