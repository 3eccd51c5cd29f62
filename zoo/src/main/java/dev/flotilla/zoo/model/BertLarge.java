package dev.flotilla.zoo.model;

import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import org.jspecify.annotations.Nullable;

/**
 * BERT-large (Devlin et al., 2018), with the parameter names and the start of Hugging Face's {@code
 * BertForPreTraining}: 336,226,108 parameters, the decoder tied to the token embeddings. Keys are
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
@Summary("BERT-large as bert-large-uncased; pre-training heads, or a classifier of sequences.")
public record BertLarge(
    @Setting(doc = "classes of a sequence, in place of the pre-training heads", def = "null")
        @Nullable Integer classes,
    @Setting(doc = "masked positions that one next-sentence term counts for", def = "20")
        double nspWeight,
    @Setting(doc = "number of tokens", def = "30522") int vocabSize,
    @Setting(doc = "numbers per token", def = "1024") int hiddenSize,
    @Setting(doc = "encoder layers", def = "24") int numHiddenLayers,
    @Setting(doc = "heads of each layer; must divide hidden_size", def = "16")
        int numAttentionHeads,
    @Setting(doc = "width of each layer's inner part", def = "4096") int intermediateSize,
    @Setting(doc = "longest sequence", def = "512") int maxPositionEmbeddings,
    @Setting(doc = "fraction of outputs set to zero in training, in [0, 1)", def = "0.1")
        double hiddenDropoutProb,
    @Setting(doc = "fraction of attention set to zero in training, in [0, 1)", def = "0.1")
        double attentionProbsDropoutProb)
    implements SizedBert {

  /** Checks the settings. */
  public BertLarge {
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
  public BertLarge() {
    this(null, 20, 30522, 1024, 24, 16, 4096, 512, 0.1, 0.1);
  }

  @Override
  public String name() {
    return "bert-large";
  }
}
