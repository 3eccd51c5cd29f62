package dev.flotilla.zoo.model;

import org.jspecify.annotations.Nullable;

/** A BERT whose sizes are settings, by the names of Hugging Face's {@code config.json}. */
interface SizedBert extends NetworkModel {

  @Nullable Integer classes();

  double nspWeight();

  int vocabSize();

  int hiddenSize();

  int numHiddenLayers();

  int numAttentionHeads();

  int intermediateSize();

  int maxPositionEmbeddings();

  double hiddenDropoutProb();

  double attentionProbsDropoutProb();

  @Override
  default Network network() {
    return BertNetwork.of(
        classes(),
        nspWeight(),
        vocabSize(),
        hiddenSize(),
        numHiddenLayers(),
        numAttentionHeads(),
        intermediateSize(),
        maxPositionEmbeddings(),
        hiddenDropoutProb(),
        attentionProbsDropoutProb());
  }
}
