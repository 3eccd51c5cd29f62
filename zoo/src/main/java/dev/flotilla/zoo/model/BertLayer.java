package dev.flotilla.zoo.model;

import dev.flotilla.model.Activations;
import dev.flotilla.model.ForwardMode;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Weights;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.pytorch.DoubleOptional;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptional;
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

  private Linear attended() {
    return sizes.linear(
        prefix() + ".attention.output.dense", sizes.hiddenSize(), sizes.hiddenSize());
  }

  private LayerNorm attendedNorm() {
    return sizes.norm(prefix() + ".attention.output.LayerNorm");
  }

  private Linear inner() {
    return sizes.linear(
        prefix() + ".intermediate.dense", sizes.hiddenSize(), sizes.intermediateSize());
  }

  private Linear outer() {
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
            attended(),
            attendedNorm(),
            inner(),
            outer(),
            outerNorm())
        .flatMap(layer -> layer.parameters().stream())
        .toList();
  }

  @Override
  public Forward bind(Weights weights) {
    var attention = new Attention(weights);
    var attended = attended().bind(weights);
    var attendedNorm = attendedNorm().bind(weights);
    var inner = inner().bind(weights);
    var outer = outer().bind(weights);
    var outerNorm = outerNorm().bind(weights);
    return (input, mode) -> {
      Tensor hidden = input.tensors().get(0);
      Tensor context = attention.apply(hidden, input.tensors().get(1), mode);
      Tensor seen =
          attendedNorm.apply(drop(attended.apply(context, mode), mode).add_(hidden), mode);
      Tensor expanded = torch.gelu(inner.apply(seen, mode));
      Tensor output = outerNorm.apply(drop(outer.apply(expanded, mode), mode).add_(seen), mode);
      List<Tensor> outputs = new ArrayList<>(input.tensors());
      outputs.set(0, output);
      return new Activations(outputs);
    };
  }

  private Tensor drop(Tensor value, ForwardMode mode) {
    return torch.dropout(value, sizes.hiddenDropoutProb(), mode.isTraining());
  }

  /** Scaled dot-product attention over all heads at once. */
  private final class Attention {

    private final Layer.Bound query;
    private final Layer.Bound key;
    private final Layer.Bound value;
    private final TensorOptional everything;
    private final DoubleOptional usualScale;

    Attention(Weights weights) {
      query = projection("query").bind(weights);
      key = projection("key").bind(weights);
      value = projection("value").bind(weights);
      everything = weights.own(new TensorOptional());
      usualScale = weights.own(new DoubleOptional());
    }

    Tensor apply(Tensor hidden, Tensor visible, ForwardMode mode) {
      double dropout = mode.isTraining() ? sizes.attentionProbsDropoutProb() : 0;
      Tensor context =
          torch.scaled_dot_product_attention(
              heads(query.apply(hidden, mode)),
              heads(key.apply(hidden, mode)),
              heads(value.apply(hidden, mode)),
              visible.numel() == 0 ? everything : new TensorOptional(visible),
              dropout,
              false,
              usualScale,
              false);
      return context.transpose(1, 2).reshape(hidden.size(0), hidden.size(1), hidden.size(2));
    }

    private Tensor heads(Tensor all) {
      return all.view(all.size(0), all.size(1), sizes.numAttentionHeads(), sizes.headSize())
          .transpose(1, 2);
    }
  }
}
