package dev.flotilla.zoo.model;

import dev.flotilla.model.Activations;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Part;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Weights;
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
record BertLayer(BertSizes sizes, int index) implements Segment {

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

  @Override
  public Forward bind(Weights weights) {
    return Part.inOrder(bindParts(weights));
  }

  /**
   * Four parts, each a choice of its own for recompute: the core of attention costs little time and
   * much memory, the inner layer much of both.
   */
  @Override
  public List<Part> bindParts(Weights weights) {
    return List.of(
        new Part(name() + "/projections", projections(weights)),
        new Part(name() + "/attention", core(weights)),
        new Part(name() + "/attended", attended(weights)),
        new Part(name() + "/inner", inner(weights)));
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
        outputs.addAll(joined.apply(hidden));
        outputs.addAll(input.tensors());
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

  /** Context and hidden state → the hidden state that has seen the others. */
  private Forward attended(Weights weights) {
    var dense = attendedDense().bind(weights);
    var norm = attendedNorm().bind(weights);
    return (input, mode) -> {
      Tensor hidden = input.tensors().get(1);
      Tensor seen = Layers.sum(drop(dense.apply(input.tensors().get(0), mode), mode), hidden);
      return followedBy(norm.apply(seen, mode), input, 2);
    };
  }

  private Forward inner(Weights weights) {
    var expand = innerDense().bind(weights);
    var contract = outerDense().bind(weights);
    var norm = outerNorm().bind(weights);
    return (input, mode) -> {
      Tensor seen = input.tensors().get(0);
      Tensor expanded = torch.gelu(expand.apply(seen, mode));
      Tensor output = Layers.sum(drop(contract.apply(expanded, mode), mode), seen);
      return followedBy(norm.apply(output, mode), input, 1);
    };
  }

  private static Activations followedBy(Tensor first, Activations input, int from) {
    List<Tensor> outputs = new ArrayList<>();
    outputs.add(first);
    outputs.addAll(input.tensors().subList(from, input.tensors().size()));
    return new Activations(outputs);
  }

  private Tensor drop(Tensor value, ForwardMode mode) {
    return Dropout.apply(value, sizes.hiddenDropoutProb(), mode);
  }
}
