package dev.flotilla.zoo.model;

import dev.flotilla.data.SampleForm;
import dev.flotilla.model.Classification;
import dev.flotilla.model.Objective;
import dev.flotilla.model.Segment;
import dev.flotilla.settings.Check;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The segments of BERT (Devlin et al., 2018), with the names of Hugging Face's {@code
 * BertForPreTraining} or, with classes, {@code BertForSequenceClassification}.
 *
 * @param classes classes of a sequence, or null for pre-training
 * @param nspWeight see {@link BertPretraining}
 */
record BertNetwork(BertSizes sizes, @Nullable Integer classes, double nspWeight)
    implements Network {

  /** Masked positions that a next-sentence term counts for, where nobody says another number. */
  static final int NSP_WEIGHT = 20;

  BertNetwork {
    Check.that(classes == null || classes >= 2, "classes", "must be at least 2", "" + classes)
        .and(nspWeight >= 0, "nsp_weight", "must be at least 0", nspWeight)
        .orThrow();
  }

  /** Returns a network of the published kind, whose sizes differ in what is given here alone. */
  static BertNetwork of(
      @Nullable Integer classes,
      double nspWeight,
      int vocabSize,
      int hiddenSize,
      int numHiddenLayers,
      int numAttentionHeads,
      int intermediateSize,
      int maxPositionEmbeddings,
      double hiddenDropoutProb,
      double attentionProbsDropoutProb) {
    var common = BertSizes.BASE;
    var sizes =
        new BertSizes(
            vocabSize,
            hiddenSize,
            numHiddenLayers,
            numAttentionHeads,
            intermediateSize,
            maxPositionEmbeddings,
            common.typeVocabSize(),
            hiddenDropoutProb,
            attentionProbsDropoutProb,
            common.layerNormEps(),
            common.initializerRange(),
            common.padTokenId());
    return new BertNetwork(sizes, classes, nspWeight);
  }

  @Override
  public List<Segment> segments() {
    List<Segment> segments = new ArrayList<>();
    segments.add(new BertEmbeddings(sizes));
    for (int i = 0; i < sizes.numHiddenLayers(); i++) {
      segments.add(new BertLayer(sizes, i));
    }
    segments.add(
        classes == null ? new BertPretrainingHeads(sizes) : new BertClassifier(sizes, classes));
    return segments;
  }

  @Override
  public Objective objective() {
    return classes == null ? new BertPretraining(nspWeight) : new Classification();
  }

  @Override
  public boolean isRecordable() {
    return true;
  }

  @Override
  public Map<String, String> aliases() {
    return classes == null
        ? Map.of(
            "cls.predictions.decoder.weight",
            BertEmbeddings.WORDS,
            "cls.predictions.decoder.bias",
            "cls.predictions.bias")
        : Map.of();
  }

  /** Returns what Hugging Face's {@code from_pretrained} reads. */
  @Override
  public Map<String, Object> configuration() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("model_type", "bert");
    values.put(
        "architectures",
        List.of(classes == null ? "BertForPreTraining" : "BertForSequenceClassification"));
    values.put("vocab_size", sizes.vocabSize());
    values.put("hidden_size", sizes.hiddenSize());
    values.put("num_hidden_layers", sizes.numHiddenLayers());
    values.put("num_attention_heads", sizes.numAttentionHeads());
    values.put("intermediate_size", sizes.intermediateSize());
    values.put("max_position_embeddings", sizes.maxPositionEmbeddings());
    values.put("type_vocab_size", sizes.typeVocabSize());
    values.put("hidden_act", "gelu");
    values.put("hidden_dropout_prob", sizes.hiddenDropoutProb());
    values.put("attention_probs_dropout_prob", sizes.attentionProbsDropoutProb());
    values.put("layer_norm_eps", sizes.layerNormEps());
    values.put("initializer_range", sizes.initializerRange());
    values.put("pad_token_id", sizes.padTokenId());
    if (classes != null) {
      values.put("id2label", labels(classes));
    }
    return values;
  }

  private static Map<String, String> labels(int classes) {
    Map<String, String> labels = new LinkedHashMap<>();
    for (int i = 0; i < classes; i++) {
      labels.put("" + i, "LABEL_" + i);
    }
    return labels;
  }

  @Override
  public void checkSamples(SampleForm form) {
    SampleCheck.tokens(form, sizes, classes);
  }
}
