package dev.flotilla.zoo.data;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sequences that were tokenized before, one per line: {@code token ids;sentence ids;position
 * ids;label}, the ids with spaces between.
 *
 * <p>{@code train.txt} and {@code val.txt} of the folder hold such lines, or name files that do,
 * one per line; {@code vocab.txt} is the vocabulary. For pre-training the label is 1 where the
 * second sentence follows the first and 0 where it is a random one; for classification it is the
 * class.
 *
 * @param path the folder
 * @param vocabulary the vocabulary; null for the folder's {@code vocab.txt}
 * @param task what the sequences are for
 * @param classes classes that labels may name, for classification
 * @param maxSeqLen the longest sequence
 * @param tooLong what happens to longer ones
 * @param maskShare fraction of tokens to guess
 * @param inTokens whether a batch is counted in tokens, padding included, instead of sequences
 */
@Summary("Tokenized sequences for BERT, one per line: token ids;sentence ids;position ids;label.")
public record BertLines(
    @Setting(doc = "Folder with train.txt, val.txt and vocab.txt.") Path path,
    @Setting(doc = "Vocabulary file; by default vocab.txt of the folder.", def = "null")
        @Nullable Path vocabulary,
    @Setting(doc = "pretraining, or classification by the label.", def = "pretraining")
        TextTask task,
    @Setting(doc = "Number of classes, for classification.", def = "2") int classes,
    @Setting(doc = "Longest sequence, in tokens.", def = "512") int maxSeqLen,
    @Setting(doc = "What becomes of longer sequences: error or truncate.", def = "error")
        TooLong tooLong,
    @Setting(doc = "Fraction of tokens that are masked and guessed, in (0, 1).", def = "0.15")
        double maskShare,
    @Setting(doc = "Count the batch in tokens, not in sequences.", def = "false") boolean inTokens)
    implements DataSource {

  /** Checks the settings. */
  public BertLines {
    Check.that(maxSeqLen >= 3, "max_seq_len", "must be at least 3", maxSeqLen)
        .and(classes >= 2, "classes", "must be at least 2", classes)
        .and(maskShare > 0 && maskShare < 1, "mask_share", "must be in (0, 1)", maskShare)
        .orThrow();
  }

  @Override
  public void check() {
    var tokens = readVocabulary();
    LineSequences.read(this, tokens, "train.txt");
    LineSequences.read(this, tokens, "val.txt");
  }

  @Override
  public Optional<SampleForm> form() {
    int named = task == TextTask.PRETRAINING ? 0 : classes;
    return Optional.of(new SampleForm.Tokens(readVocabulary().size(), maxSeqLen, named));
  }

  @Override
  public Dataset train() {
    return dataset("train.txt");
  }

  @Override
  public Dataset test() {
    return dataset("val.txt");
  }

  private Vocabulary readVocabulary() {
    return Vocabulary.read(vocabulary == null ? path.resolve("vocab.txt") : vocabulary);
  }

  private Dataset dataset(String list) {
    var tokens = readVocabulary();
    var sequences = LineSequences.read(this, tokens, list);
    var masking = task == TextTask.PRETRAINING ? Masking.of(tokens, maskShare) : null;
    return new TextDataset(
        sequences, masking, new TextPadding(tokens.require("[PAD]"), 0), inTokens);
  }
}
