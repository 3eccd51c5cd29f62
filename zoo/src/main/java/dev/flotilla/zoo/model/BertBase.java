package dev.flotilla.zoo.model;

import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import org.jspecify.annotations.Nullable;

/**
 * BERT-base (Devlin et al., 2018), with the parameter names and the start of Hugging Face's {@code
 * BertForPreTraining}: 110,106,428 parameters, the decoder tied to the token embeddings. Keys are
 * those of its {@code config.json}.
 *
 * @param classes classes of a sequence; null for the pre-training heads
 * @param nspWeight masked positions that a next-sentence term counts for, see {@link
 *     BertPretraining}
 * @param vocabSize number of tokens
 * @param hiddenSize numbers per token
 * @param numHiddenLayers encoder layers
 * @param numAttentionHeads heads of each layer
 * @param intermediateSize width of each layer's inner part
 * @param maxPositionEmbeddings longest sequence
 * @param hiddenDropoutProb fraction of outputs that training sets to zero
 * @param attentionProbsDropoutProb fraction of attention that training sets to zero
 */
@Summary("BERT-base as bert-base-uncased; pre-training heads, or a classifier of sequences.")
public record BertBase(
    @Setting(doc = "number of classes of a sequence; none for the pre-training heads")
        @Nullable Integer classes,
    @Setting(doc = "weight of a next-sentence term, in masked positions") double nspWeight,
    @Setting(doc = "number of tokens") int vocabSize,
    @Setting(doc = "numbers per token") int hiddenSize,
    @Setting(doc = "encoder layers") int numHiddenLayers,
    @Setting(doc = "heads of each layer; must divide hidden_size") int numAttentionHeads,
    @Setting(doc = "width of each layer's feed-forward part") int intermediateSize,
    @Setting(doc = "longest sequence, in tokens") int maxPositionEmbeddings,
    @Setting(doc = "fraction of outputs set to zero in training, in [0, 1)")
        double hiddenDropoutProb,
    @Setting(doc = "fraction of attention set to zero in training, in [0, 1)")
        double attentionProbsDropoutProb)
    implements SizedBert {

  /** Checks the settings. */
  public BertBase {
    BertNetwork.of(
        classes,
        nspWeight,
        vocabSize,
        hiddenSize,
        numHiddenLayers,
        numAttentionHeads,
        intermediateSize,
        maxPositionEmbeddings,
        hiddenDropoutProb,
        attentionProbsDropoutProb);
  }

  /** Creates the published model for pre-training. */
  public BertBase() {
    this(BertSizes.BASE);
  }

  private BertBase(BertSizes sizes) {
    this(
        null,
        BertNetwork.NSP_WEIGHT,
        sizes.vocabSize(),
        sizes.hiddenSize(),
        sizes.numHiddenLayers(),
        sizes.numAttentionHeads(),
        sizes.intermediateSize(),
        sizes.maxPositionEmbeddings(),
        sizes.hiddenDropoutProb(),
        sizes.attentionProbsDropoutProb());
  }

  @Override
  public String name() {
    return "bert-base";
  }
}
