package dev.flotilla.zoo.model;

import dev.flotilla.memory.Tensors;
import dev.flotilla.model.Activations;
import dev.flotilla.model.Initializer;
import dev.flotilla.model.ParameterSpec;
import dev.flotilla.model.Segment;
import dev.flotilla.model.Shape;
import dev.flotilla.model.Weights;
import java.util.ArrayList;
import java.util.List;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;

/**
 * The first segment of BERT: the sum of token, sentence and position embeddings, normalised.
 *
 * <p>Takes what {@link BertBatch} describes; gives [samples, length, hidden], which positions may
 * be attended to, and whatever else came in.
 */
record BertEmbeddings(BertSizes sizes) implements Segment {

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
}
