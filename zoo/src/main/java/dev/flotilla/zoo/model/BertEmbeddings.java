package dev.flotilla.zoo.model;

import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Initializer;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import dev.flotilla.onnx.OnnxExportable;
import dev.flotilla.onnx.OnnxExtent;
import dev.flotilla.onnx.OnnxGraph;
import dev.flotilla.onnx.OnnxLayers;
import dev.flotilla.onnx.OnnxType;
import dev.flotilla.onnx.OnnxValue;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * The first segment of BERT: the sum of token, sentence and position embeddings, normalised.
 *
 * <p>Takes what {@link BertBatch} describes; gives [samples, length, hidden], which positions may
 * be attended to, and whatever else came in.
 */
record BertEmbeddings(BertSizes sizes) implements Segment, OnnxExportable {

  static final String WORDS = "bert.embeddings.word_embeddings.weight";
  private static final String POSITIONS = "bert.embeddings.position_embeddings.weight";
  private static final String TYPES = "bert.embeddings.token_type_embeddings.weight";
  private static final long NO_PADDING = -1;

  @Override
  public String name() {
    return "embeddings";
  }

  /** Returns the matrix of token embeddings, which the masked-LM head uses as well. */
  static ParameterSpec words(BertSizes sizes) {
    long from = (long) sizes.padTokenId() * sizes.hiddenSize();
    var start =
        new Initializer.NormalExcept(sizes.initializerRange(), from, from + sizes.hiddenSize());
    return embedding(WORDS, sizes.vocabSize(), sizes, start);
  }

  private static ParameterSpec embedding(
      String name, long rows, BertSizes sizes, Initializer start) {
    return new ParameterSpec(
        name, Shape.of(rows, sizes.hiddenSize()), ParameterSpec.Kind.WEIGHT, start);
  }

  private LayerNorm norm() {
    return sizes.norm("bert.embeddings.LayerNorm");
  }

  @Override
  public List<ParameterSpec> parameters() {
    var start = new Initializer.Normal(0, sizes.initializerRange());
    List<ParameterSpec> parameters = new ArrayList<>();
    parameters.add(words(sizes));
    parameters.add(embedding(POSITIONS, sizes.maxPositionEmbeddings(), sizes, start));
    parameters.add(embedding(TYPES, sizes.typeVocabSize(), sizes, start));
    parameters.addAll(norm().parameters());
    return parameters;
  }

  @Override
  public Forward bind(Weights weights) {
    Tensor words = weights.parameter(WORDS);
    Tensor positions = weights.parameter(POSITIONS);
    Tensor types = weights.parameter(TYPES);
    var norm = norm().bind(weights);
    var zero = weights.own(new Scalar(0));
    return (input, mode) -> {
      var batch = BertBatch.of(input);
      Tensor sum =
          torch
              .embedding(words, batch.tokens(), sizes.padTokenId(), false, false)
              .add_(torch.embedding(types, batch.types(), NO_PADDING, false, false))
              .add_(torch.embedding(positions, batch.positions(), NO_PADDING, false, false));
      Tensor hidden = Dropout.apply(norm.apply(sum, mode), sizes.hiddenDropoutProb(), mode);
      List<Tensor> output = new ArrayList<>(List.of(hidden, visible(batch.attention(), zero)));
      output.addAll(batch.rest());
      return new Activations(output);
    };
  }

  /**
   * Returns which positions may be attended to, or an empty tensor where all may, which attention
   * then need not look at.
   */
  private static Tensor visible(Tensor attention, Scalar zero) {
    if (attention.numel() == 0) {
      return Tensors.empty(torch.ScalarType.Bool, 0);
    }
    Tensor visible = attention.ne(zero);
    // On a device, to look would mean to wait.
    return attention.is_cpu() && visible.all().item_bool()
        ? Tensors.empty(torch.ScalarType.Bool, 0)
        : visible.view(attention.size(0), 1, 1, attention.size(1));
  }

  /** Returns those of Hugging Face's models, for sequences of any length. */
  @Override
  public List<OnnxValue> inputs(List<Long> sampleShape) {
    var shape = List.of(OnnxExtent.BATCH, OnnxExtent.named("sequence"));
    return Stream.of("input_ids", "attention_mask", "token_type_ids")
        .map(input -> new OnnxValue(input, OnnxType.INT64, shape))
        .toList();
  }

  /** Gives the hidden state and what attention adds to its scores. */
  @Override
  public List<OnnxValue> addTo(OnnxGraph graph, List<OnnxValue> inputs) {
    var words = OnnxLayers.embedding(graph, inputs.get(0), WORDS);
    var types = OnnxLayers.embedding(graph, inputs.get(2), TYPES);
    var positions = OnnxLayers.embedding(graph, counted(graph, inputs.get(0)), POSITIONS);
    var sum = graph.add(graph.add(words, types), positions);
    return List.of(norm().addTo(graph, sum), unseen(graph, inputs.get(1)));
  }

  /** Returns 0, 1, 2 and so on, as many as a sequence has tokens. */
  private static OnnxValue counted(OnnxGraph graph, OnnxValue tokens) {
    var two = List.of(OnnxExtent.of(2));
    var shape = graph.node("Shape", OnnxType.INT64, two, List.of(tokens));
    return graph.node(
        "Range",
        OnnxType.INT64,
        List.of(tokens.extent(1)),
        List.of(graph.scalar(0), graph.select(shape, 0, 1), graph.scalar(1)));
  }

  /** Returns 0 where a position may be attended to, and elsewhere less than any score is. */
  private static OnnxValue unseen(OnnxGraph graph, OnnxValue attention) {
    var mask = graph.unsqueeze(attention, 1, 2);
    var isSeen = graph.cast(mask, OnnxType.BOOL);
    return graph.node(
        "Where",
        OnnxType.FLOAT32,
        mask.shape(),
        List.of(isSeen, graph.constant(0.0), graph.constant(-Float.MAX_VALUE)));
  }
}
