package dev.flotilla.zoo.model;

import dev.flotilla.settings.Check;

/**
 * The sizes of a BERT, by the names of Hugging Face's {@code config.json}.
 *
 * @param vocabSize number of tokens
 * @param hiddenSize numbers per token
 * @param numHiddenLayers encoder layers
 * @param numAttentionHeads heads of each layer
 * @param intermediateSize width of each layer's inner part
 * @param maxPositionEmbeddings longest sequence
 * @param typeVocabSize kinds of sentences
 * @param hiddenDropoutProb fraction of outputs that training sets to zero
 * @param attentionProbsDropoutProb fraction of attention that training sets to zero
 * @param layerNormEps added to variances
 * @param initializerRange deviation of the Gaussian start
 * @param padTokenId token whose embedding starts at zero and gets no gradient from being looked up
 */
record BertSizes(
    int vocabSize,
    int hiddenSize,
    int numHiddenLayers,
    int numAttentionHeads,
    int intermediateSize,
    int maxPositionEmbeddings,
    int typeVocabSize,
    double hiddenDropoutProb,
    double attentionProbsDropoutProb,
    double layerNormEps,
    double initializerRange,
    int padTokenId) {

  /** BERT-base, which also has what a {@code config.json} may leave out. */
  static final BertSizes BASE = published(768, 12, 12);

  /** More than any published one by far, so that a slip of the pen does not fill memory. */
  private static final int MOST_LAYERS = 10_000;

  BertSizes {
    Check.that(vocabSize >= 2, "vocab_size", "must be at least 2", vocabSize)
        .and(hiddenSize >= 1, "hidden_size", "must be at least 1", hiddenSize)
        .and(
            numHiddenLayers >= 1 && numHiddenLayers <= MOST_LAYERS,
            "num_hidden_layers",
            "must be from 1 to " + MOST_LAYERS,
            numHiddenLayers)
        .and(
            numAttentionHeads >= 1 && hiddenSize % numAttentionHeads == 0,
            "num_attention_heads",
            "must divide hidden_size " + hiddenSize,
            numAttentionHeads)
        .and(intermediateSize >= 1, "intermediate_size", "must be at least 1", intermediateSize)
        .and(
            maxPositionEmbeddings >= 1,
            "max_position_embeddings",
            "must be at least 1",
            maxPositionEmbeddings)
        .and(typeVocabSize >= 1, "type_vocab_size", "must be at least 1", typeVocabSize)
        .and(
            isFraction(hiddenDropoutProb),
            "hidden_dropout_prob",
            "must be in [0, 1)",
            hiddenDropoutProb)
        .and(
            isFraction(attentionProbsDropoutProb),
            "attention_probs_dropout_prob",
            "must be in [0, 1)",
            attentionProbsDropoutProb)
        .and(layerNormEps > 0, "layer_norm_eps", "must be greater than 0", layerNormEps)
        .and(initializerRange > 0, "initializer_range", "must be greater than 0", initializerRange)
        .and(
            padTokenId >= 0 && padTokenId < vocabSize,
            "pad_token_id",
            "must be a token in [0, vocab_size)",
            padTokenId)
        .orThrow();
  }

  /** Returns the sizes of a published model: what differs is given, the rest is common to all. */
  static BertSizes published(int hiddenSize, int numHiddenLayers, int numAttentionHeads) {
    return new BertSizes(
        30522,
        hiddenSize,
        numHiddenLayers,
        numAttentionHeads,
        4 * hiddenSize,
        512,
        2,
        0.1,
        0.1,
        1e-12,
        0.02,
        0);
  }

  private static boolean isFraction(double value) {
    return value >= 0 && value < 1;
  }

  int headSize() {
    return hiddenSize / numAttentionHeads;
  }

  /** Returns a fully connected layer as BERT starts them. */
  Linear linear(String name, long inputs, long outputs) {
    return Linear.gaussian(name, inputs, outputs, initializerRange);
  }

  /** Returns the normalisation of each token. */
  LayerNorm norm(String name) {
    return new LayerNorm(name, hiddenSize, layerNormEps);
  }
}
