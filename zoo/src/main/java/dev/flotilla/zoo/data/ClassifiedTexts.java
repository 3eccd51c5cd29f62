package dev.flotilla.zoo.data;

import dev.flotilla.data.Dataset;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Texts with a class each, as BERT takes them: {@code [CLS] text [SEP]}. */
public final class ClassifiedTexts {

  private ClassifiedTexts() {}

  /** Returns a number above that of every token of a vocabulary. */
  public static int vocabularySize(Path vocabulary) {
    return Vocabulary.read(vocabulary).size();
  }

  /**
   * Splits texts into word pieces.
   *
   * @param labels the class of each
   * @param lowercase whether case and accents are removed
   * @param maxSeqLen the most tokens of a text, special ones included; the rest is cut off
   */
  public static Dataset dataset(
      List<String> texts, int[] labels, Path vocabulary, boolean lowercase, int maxSeqLen) {
    var tokens = Vocabulary.read(vocabulary);
    List<TextSequence> sequences = new ArrayList<>();
    try (var pieces = new WordPiece(tokens, lowercase)) {
      for (int[] encoded : pieces.encode(texts)) {
        sequences.add(sequence(encoded, labels[sequences.size()], tokens, maxSeqLen));
      }
    }
    var padding = new TextPadding(tokens.require("[PAD]"), 0);
    return new TextDataset(new LineSequences(sequences), null, padding, false);
  }

  private static TextSequence sequence(int[] text, int label, Vocabulary tokens, int longest) {
    int kept = Math.min(text.length, longest - 2);
    var all = new int[kept + 2];
    all[0] = tokens.require("[CLS]");
    System.arraycopy(text, 0, all, 1, kept);
    all[kept + 1] = tokens.require("[SEP]");
    return new TextSequence(all, new int[all.length], TextSequence.positions(all.length), label);
  }
}
