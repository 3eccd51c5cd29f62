package dev.flotilla.zoo.table;

import dev.flotilla.settings.Check;
import dev.flotilla.settings.Setting;
import java.nio.file.Path;

/**
 * A column of texts to classify, which takes the place of all others.
 *
 * @param column its name
 * @param vocabulary the vocabulary of the model
 * @param lowercase whether case and accents are removed, as uncased vocabularies want it
 * @param maxSeqLen the most tokens of a text; what is longer is cut off
 */
public record TextColumn(
    @Setting(doc = "Column that holds the texts.") String column,
    @Setting(doc = "Vocabulary file, a token per line.") Path vocabulary,
    @Setting(doc = "Remove case and accents, for uncased vocabularies.", def = "true")
        boolean lowercase,
    @Setting(doc = "Most tokens of a text, at least 3; longer ones are cut off.", def = "128")
        int maxSeqLen) {

  /** Checks the settings. */
  public TextColumn {
    Check.that(maxSeqLen >= 3, "max_seq_len", "must be at least 3", maxSeqLen).orThrow();
  }
}
