package dev.flotilla.zoo.model;

import dev.flotilla.memory.Autocast;
import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.model.Activations;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Part;
import dev.flotilla.model.PartedSegment;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxExportable;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * An encoder layer of BERT: attention and an inner part, each added to its input and normalised.
 *
 * @param index number of the layer, from 0
 */
record BertLayer(BertSizes sizes, int index) implements PartedSegment, OnnxExportable {

  @Override
  public String name() {
    return "layer." + index;
  }

  private String prefix() {
    return "bert.encoder.layer." + index;
  }

  private Linear projection(String role) {
    return sizes.linear(
        prefix() + ".attention.self." + role, sizes.hiddenSize(), sizes.hiddenSize());
  }

  private Linear attendedDense() {
    return sizes.linear(
        prefix() + ".attention.output.dense", sizes.hiddenSize(), sizes.hiddenSize());
  }

  private LayerNorm attendedNorm() {
    return sizes.norm(prefix() + ".attention.output.LayerNorm");
  }

  private Linear innerDense() {
    return sizes.linear(
        prefix() + ".intermediate.dense", sizes.hiddenSize(), sizes.intermediateSize());
  }

  private Linear outerDense() {
    return sizes.linear(prefix() + ".output.dense", sizes.intermediateSize(), sizes.hiddenSize());
  }

  private LayerNorm outerNorm() {
    return sizes.norm(prefix() + ".output.LayerNorm");
  }

  @Override
  public List<ParameterSpec> parameters() {
    return Stream.of(
            projection("query"),
            projection("key"),
            projection("value"),
            attendedDense(),
            attendedNorm(),
            innerDense(),
            outerDense(),
            outerNorm())
        .flatMap(layer -> layer.parameters().stream())
        .toList();
  }

  /**
   * Five parts, each a choice of its own for recompute: the core of attention costs little time and
   * much memory, the inner layer much of both. A cut is best before the last normalisation: the
   * product before it, a third of a layer's work, then need not be done again.
   */
  @Override
  public List<Part> bindParts(Weights weights) {
    double dropout = sizes.hiddenDropoutProb();
    boolean isLast = index == sizes.numHiddenLayers() - 1;
    var attendedNorm = new FollowingNorm(attendedNorm(), weights, false);
    var outerNorm = new FollowingNorm(outerNorm(), weights, isLast);
    var last = AddedProjection.ofGelu(innerDense(), outerDense(), weights, dropout, outerNorm);
    return List.of(
        new Part(name() + "/projections", projections(weights)),
        new Part(
            name() + "/attention",
            core(weights),
            new AttentionFunction(sizes.attentionProbsDropoutProb(), sizes.numAttentionHeads())),
        new Part(
            name() + "/attended",
            (input, _) -> input,
            AddedProjection.of(attendedDense(), weights, dropout, attendedNorm)),
        new Part(name() + "/inner", inner(weights, attendedNorm, last), last),
        new Part(
            name() + "/norm",
            (input, mode) -> outerNorm.apply(input.tensors().getFirst(), mode).in(input, true)));
  }

  /** Hidden state and whatever else → query, key, value, hidden state and whatever else. */
  private Forward projections(Weights weights) {
    var query = projection("query").bind(weights);
    var key = projection("key").bind(weights);
    var value = projection("value").bind(weights);
    var joined = new JoinedProjections(weights, prefix() + ".attention.self.");
    return (input, mode) -> {
      Tensor hidden = input.tensors().get(0);
      List<Tensor> outputs = new ArrayList<>();
      if (hidden.is_cuda()) {
        Tensor last = input.tensors().getLast();
        boolean hasCopy = last.scalar_type().intern() == torch.ScalarType.BFloat16;
        outputs.addAll(joined.apply(hidden, hasCopy ? last : hidden));
        int passing = input.tensors().size() - (hasCopy ? 1 : 0);
        outputs.addAll(input.tensors().subList(0, passing));
        return new Activations(outputs);
      }
      outputs.add(query.apply(hidden, mode));
      outputs.add(key.apply(hidden, mode));
      outputs.add(value.apply(hidden, mode));
      outputs.addAll(input.tensors());
      return new Activations(outputs);
    };
  }

  /** Scaled dot-product attention over all heads at once → its context, then as it came in. */
  private Forward core(Weights weights) {
    var attention = new Attention(sizes.attentionProbsDropoutProb(), sizes.headSize(), weights);
    return (input, mode) -> {
      Tensor hidden = input.tensors().get(3);
      Tensor context =
          attention.apply(
              heads(input.tensors().get(0)),
              heads(input.tensors().get(1)),
              heads(input.tensors().get(2)),
              input.tensors().get(4),
              mode);
      Tensor joined =
          context.transpose(1, 2).reshape(hidden.size(0), hidden.size(1), hidden.size(2));
      return followedBy(joined, input, 3);
    };
  }

  private Tensor heads(Tensor all) {
    return all.view(all.size(0), all.size(1), sizes.numAttentionHeads(), sizes.headSize())
        .transpose(1, 2);
  }

  /**
   * The hidden state with what was attended to → its expansion, then itself normalised.
   *
   * @param last takes the expansion, and adds its offset where it can
   */
  private Forward inner(Weights weights, FollowingNorm norm, AddedProjection last) {
    var expand = innerDense().bind(weights);
    Tensor matrix = weights.parameter(innerDense().name() + ".weight");
    var product = new HalfProduct(List.of(matrix), List.of());
    return (input, mode) -> {
      var seen = norm.apply(input.tensors().get(0), mode);
      var passing = seen.in(input, false);
      if (product.suits() && last.takesOffset(torch.ScalarType.BFloat16)) {
        return followedBy(product.apply(seen.half()), passing, 0);
      }
      boolean isPlain = Autocast.current(ComputeDevice.of(matrix)) == null;
      return isPlain && last.takesOffset(seen.half().scalar_type())
          ? followedBy(seen.half().matmul(matrix.t()), passing, 0)
          : followedBy(expand.apply(seen.half(), mode), passing, 0);
    };
  }

  /** Takes and gives the hidden state and what attention adds to its scores. */
  @Override
  public List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> inputs) {
    var hidden = inputs.getFirst();
    var context = attended(graph, hidden, inputs.get(1));
    var added = graph.add(attendedDense().addTo(graph, context), hidden);
    var seen = attendedNorm().addTo(graph, added);
    var inner = OnnxLayers.gelu(graph, innerDense().addTo(graph, seen));
    var sum = graph.add(outerDense().addTo(graph, inner), seen);
    return List.of(outerNorm().addTo(graph, sum), inputs.get(1));
  }

  private OnnxValue attended(OnnxGraph graph, OnnxValue hidden, OnnxValue unseen) {
    var query = heads(graph, projection("query").addTo(graph, hidden), 0, 2, 1, 3);
    var key = heads(graph, projection("key").addTo(graph, hidden), 0, 2, 3, 1);
    var value = heads(graph, projection("value").addTo(graph, hidden), 0, 2, 1, 3);
    var scaled = graph.mul(query, graph.constant(1 / Math.sqrt(sizes.headSize())));
    var scores = graph.add(graph.matmul(scaled, key), unseen);
    var context = graph.matmul(OnnxLayers.softmax(graph, scores), value);
    return graph.reshape(graph.transpose(context, 0, 2, 1, 3), 0, 0, sizes.hiddenSize());
  }

  private OnnxValue heads(OnnxGraph graph, OnnxValue all, int... axes) {
    var split = graph.reshape(all, 0, 0, sizes.numAttentionHeads(), sizes.headSize());
    return graph.transpose(split, axes);
  }

  private static Activations followedBy(Tensor first, Activations input, int from) {
    List<Tensor> outputs = new ArrayList<>();
    outputs.add(first);
    outputs.addAll(input.tensors().subList(from, input.tensors().size()));
    return new Activations(outputs);
  }
}
