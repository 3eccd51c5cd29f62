package dev.flotilla.zoo.data;

import dev.flotilla.data.DataSource;
import dev.flotilla.data.Dataset;
import dev.flotilla.data.SampleForm;
import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import dev.flotilla.settings.Summary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Plain text for BERT's pre-training: a sentence per line, an empty line between documents.
 *
 * <p>Sentences are split into word pieces and joined into sequences of at most {@code max_seq_len}
 * tokens, {@code [CLS] A [SEP] B [SEP]}; a sentence that is longer is cut into several. Where a
 * sequence is divided into A and B, whether B is the true continuation or, for half of them, that
 * of another sequence, and what is masked: all are functions of seed, epoch and sample.
 *
 * @param path a text file, or a folder with {@code train.txt} and {@code val.txt}
 * @param vocabulary the vocabulary; null for {@code vocab.txt} beside the text
 * @param maxSeqLen the longest sequence
 * @param pack whether sequences go on beyond the end of a document, so that nearly all are full
 * @param padToMax whether batches are padded to the longest allowed sequence instead of their own
 * @param lowercase whether case and accents are removed, as uncased vocabularies want it
 * @param nextSentence whether to make pairs; without, a sequence is {@code [CLS] A [SEP]}
 * @param maskShare fraction of tokens to guess
 * @param testShare fraction of the sequences at the end of a single file to test with
 * @param inTokens whether a batch is counted in tokens, padding included, instead of sequences
 */
@Summary("Plain text and a vocabulary: sentence pairs, masked, for pre-training BERT.")
public record PlainText(
    @Setting(doc = "Text file, or folder with train.txt and val.txt.") Path path,
    @Setting(
            doc = "Vocabulary file, or tokenizer.json; by default vocab.txt beside the text.",
            def = "null")
        @Nullable Path vocabulary,
    @Setting(doc = "Longest sequence, in tokens.", def = "128") int maxSeqLen,
    @Setting(doc = "Go on beyond the end of a document until a sequence is full.", def = "true")
        boolean pack,
    @Setting(doc = "Pad batches to max_seq_len, not to their longest sequence.", def = "false")
        boolean padToMax,
    @Setting(
            doc =
                "Remove case and accents, for uncased vocabularies; tokenizer.json says it itself.",
            def = "true")
        boolean lowercase,
    @Setting(doc = "Make pairs of sentences, half of which do not belong together.", def = "true")
        boolean nextSentence,
    @Setting(doc = "Fraction of tokens that are masked and guessed, in (0, 1).", def = "0.15")
        double maskShare,
    @Setting(doc = "Fraction of a single file to test with, in (0, 1).", def = "0.1")
        double testShare,
    @Setting(doc = "Count the batch in tokens, not in sequences.", def = "false") boolean inTokens)
    implements DataSource {

  /** Checks the settings. */
  public PlainText {
    Check.that(maxSeqLen >= 8, "max_seq_len", "must be at least 8", maxSeqLen)
        .and(maskShare > 0 && maskShare < 1, "mask_share", "must be in (0, 1)", maskShare)
        .and(testShare > 0 && testShare < 1, "test_share", "must be in (0, 1)", testShare)
        .orThrow();
  }

  /** Describes a text with everything else by default. */
  public static PlainText of(Path path, Path vocabulary) {
    return new PlainText(path, vocabulary, 128, true, false, true, true, 0.15, 0.1, false);
  }

  @Override
  public void check() {
    var tokens = readVocabulary();
    if (!tokens.isTokenizer()) {
      tokens.require("[UNK]");
    }
    if (Files.isDirectory(path)) {
      TextFile.requireReadable(path.resolve("train.txt"));
      TextFile.requireReadable(path.resolve("val.txt"));
    } else {
      TextFile.requireReadable(path);
    }
  }

  @Override
  public Optional<SampleForm> form() {
    return Optional.of(new SampleForm.Tokens(readVocabulary().size(), maxSeqLen, 0));
  }

  @Override
  public Dataset train() {
    return dataset(true);
  }

  @Override
  public Dataset test() {
    return dataset(false);
  }

  private Vocabulary readVocabulary() {
    if (vocabulary != null) {
      return Vocabulary.read(vocabulary);
    }
    var beside = Files.isDirectory(path) ? path : path.toAbsolutePath().getParent();
    return Vocabulary.read(beside == null ? Path.of("vocab.txt") : beside.resolve("vocab.txt"));
  }

  private Dataset dataset(boolean training) {
    var tokens = readVocabulary();
    var pairs = pairs(tokens, training);
    int length = padToMax ? maxSeqLen : 0;
    var padding = new TextPadding(tokens.require("[PAD]"), length);
    return new TextDataset(pairs, Masking.of(tokens, maskShare), padding, inTokens);
  }

  private SentencePairs pairs(Vocabulary tokens, boolean training) {
    if (Files.isDirectory(path)) {
      var file = path.resolve(training ? "train.txt" : "val.txt");
      return SentencePairs.of(TextFile.read(file, tokens, lowercase), tokens, this);
    }
    var all = SentencePairs.of(TextFile.read(path, tokens, lowercase), tokens, this);
    int cut = all.size() - (int) Math.ceil(all.size() * testShare);
    if (cut < 1) {
      throw DataProblem.of(
          path, "makes %d sequences, too few to train and to test with".formatted(all.size()), "");
    }
    return training ? all.part(0, cut) : all.part(cut, all.size());
  }
}
