package dev.flotilla.zoo.model;

import dev.flotilla.memory.ComputeDevice;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Initializer;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxExportable;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxValue;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorOptions;
import org.bytedeco.pytorch.global.torch;

/**
 * The last segment of BERT in pre-training: logits of the tokens at the masked positions, and
 * whether the second sentence follows the first.
 *
 * <p>The masked positions are gathered before the projection to the vocabulary, whose matrix is
 * that of the token embeddings: of a sequence of 512 tokens, 77 rows of 30,522 logits instead of
 * 512.
 */
record BertPretrainingHeads(BertSizes sizes) implements Segment, OnnxExportable {

  private static final String BIAS = "cls.predictions.bias";

  @Override
  public String name() {
    return "heads";
  }

  private Linear transform() {
    return sizes.linear("cls.predictions.transform.dense", sizes.hiddenSize(), sizes.hiddenSize());
  }

  private LayerNorm norm() {
    return sizes.norm("cls.predictions.transform.LayerNorm");
  }

  private Linear following() {
    return sizes.linear("cls.seq_relationship", sizes.hiddenSize(), 2);
  }

  @Override
  public List<ParameterSpec> parameters() {
    List<ParameterSpec> parameters = new ArrayList<>();
    parameters.addAll(BertPooler.of(sizes).parameters());
    parameters.add(BertEmbeddings.words(sizes));
    parameters.add(
        new ParameterSpec(
            BIAS,
            Shape.of(sizes.vocabSize()),
            ParameterSpec.Kind.BIAS,
            new Initializer.Constant(0)));
    parameters.addAll(transform().parameters());
    parameters.addAll(norm().parameters());
    parameters.addAll(following().parameters());
    return parameters;
  }

  @Override
  public Forward bind(Weights weights) {
    var pooler = BertPooler.of(sizes).bind(weights);
    var transform = transform().bind(weights);
    var norm = norm().bindCopying(weights);
    var following = following().bind(weights);
    Tensor words = weights.parameter(BertEmbeddings.WORDS);
    var bias = weights.optional(BIAS);
    var product = new HalfProduct(List.of(words), List.of(weights.parameter(BIAS)));
    var positions = new Positions(weights);
    return (input, mode) -> {
      Tensor hidden = input.tensors().get(0);
      Tensor masked = positions.gather(hidden, maskedPositions(input));
      Tensor inner = torch.gelu(transform.apply(masked, mode));
      boolean isHalf = product.suits();
      // A norm gives a copy of what is float32, and here it is not in mixed precision.
      var shaped = norm.apply(isHalf ? inner.to(torch.ScalarType.Float) : inner);
      Tensor logits =
          isHalf && shaped.isCopied()
              ? product.apply(shaped.half())
              : torch.linear(shaped.half(), words, bias);
      return Activations.of(logits, following.apply(pooler.apply(hidden, mode), mode));
    };
  }

  private static Tensor maskedPositions(Activations input) {
    if (input.tensors().size() < 3) {
      throw new IllegalArgumentException(
          "pre-training needs the masked positions: its data must mask tokens");
    }
    return input.tensors().get(2);
  }

  /** Gathers the hidden states at the masked positions, sequence by sequence. */
  private static final class Positions {

    private final Scalar zero;
    private final TensorOptions longs;

    Positions(Weights weights) {
      zero = weights.own(new Scalar(0));
      var device = ComputeDevice.of(weights.parameter(BertEmbeddings.WORDS));
      longs = weights.own(device.options(torch.ScalarType.Long));
    }

    Tensor gather(Tensor hidden, Tensor positions) {
      long length = hidden.size(1);
      Tensor firsts =
          torch
              .arange(zero, new Scalar(hidden.size(0) * length), new Scalar(length), longs)
              .unsqueeze(1);
      // How many positions there are is on the device: it takes a row for each that could be one.
      Tensor rows =
          positions.is_cuda()
              ? positions.clamp_min(zero).add_(firsts).flatten()
              : positions.add(firsts).masked_select(positions.ge(zero));
      return hidden.flatten(0, 1).index_select(0, rows);
    }
  }

  /** Tokens are guessed at all positions: which of them are masked is known in training alone. */
  @Override
  public List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> inputs) {
    var hidden = inputs.getFirst();
    var shaped = norm().addTo(graph, OnnxLayers.gelu(graph, transform().addTo(graph, hidden)));
    return List.of(
        OnnxLayers.linear(graph, shaped, BertEmbeddings.WORDS, BIAS),
        following().addTo(graph, BertPooler.of(sizes).addTo(graph, hidden)));
  }

  /** Returns the names of Hugging Face's {@code BertForPreTraining}. */
  @Override
  public List<String> outputNames() {
    return List.of("prediction_logits", "seq_relationship_logits");
  }
}
