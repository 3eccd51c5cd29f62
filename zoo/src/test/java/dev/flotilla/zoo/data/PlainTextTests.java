package dev.flotilla.zoo.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.util.Utils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PlainTextTests {

  @TempDir Path folder;
  private Path vocabulary;

  @BeforeEach
  void writeVocabulary() throws IOException {
    vocabulary =
        Files.writeString(
            folder.resolve("vocab.txt"),
            "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\nthe\ncat\n,\nsat\n!\ne\n");
  }

  private PlainText settings(int maxSeqLen, boolean pack, boolean nextSentence) {
    return new PlainText(
        folder.resolve("text.txt"),
        vocabulary,
        maxSeqLen,
        pack,
        false,
        true,
        nextSentence,
        0.15,
        0.5,
        false);
  }

  private SentencePairs pairs(String text, PlainText settings) throws IOException {
    var file = Files.writeString(folder.resolve("text.txt"), text);
    var tokens = Vocabulary.read(vocabulary);
    return SentencePairs.of(TextFile.read(file, tokens, true), tokens, settings);
  }

  @Test
  void splitsAsHuggingFaceDoes() {
    try (var pieces = new WordPiece(Vocabulary.read(vocabulary), true)) {
      var encoded = pieces.encode(List.of("The unaffable cat, SAT!", "", "dog é [MASK]"));
      assertThat(encoded.get(0)).containsExactly(8, 5, 6, 7, 9, 10, 11, 12);
      assertThat(encoded.get(1)).isEmpty();
      assertThat(encoded.get(2)).startsWith(1, 13);
    }
  }

  @Test
  void asksForNoOtherBuildOfTheLibrary() {
    try (var _ = new WordPiece(Vocabulary.read(vocabulary), true)) {
      assertThat(Utils.getEnvOrSystemProperty("RUST_FLAVOR")).isNotEmpty();
    }
  }

  private Path tokenizer(String model, String added) throws IOException {
    return Files.writeString(
        folder.resolve("tokenizer.json"),
        """
        {"version": "1.0", "added_tokens": [%s], "normalizer": null,
         "pre_tokenizer": {"type": "Whitespace"}, "model": %s}
        """
            .formatted(added, model));
  }

  private static final String WORDS =
      """
      {"type": "WordLevel", "unk_token": "[UNK]",
       "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "Cat": 4, "sat": 5}}
      """;

  private static final String MASK =
      """
      {"id": 6, "content": "[MASK]", "single_word": false, "lstrip": false, "rstrip": false,
       "normalized": false, "special": true}
      """;

  /** Its own rules hold: words, not word pieces, and case as it is. */
  @Test
  void splitsAsASavedTokenizerSays() throws IOException {
    vocabulary = tokenizer(WORDS, MASK);
    var tokens = Vocabulary.read(vocabulary);
    assertThat(tokens.require("[MASK]")).isEqualTo(6);
    assertThat(tokens.size()).isEqualTo(7);
    try (var pieces = new WordPiece(tokens, true)) {
      assertThat(pieces.encode(List.of("Cat sat", "cat sat [MASK]")))
          .containsExactly(new int[] {4, 5}, new int[] {1, 5, 6});
    }
    Files.writeString(folder.resolve("text.txt"), "Cat sat\n".repeat(40));
    var settings = settings(12, true, true);
    settings.check();
    assertThat(settings.train().size()).isPositive();
  }

  @Test
  void namesATokenizerThatIsNone() throws IOException {
    var file = tokenizer(WORDS, "");
    assertThatThrownBy(() -> Vocabulary.read(file))
        .hasMessageContaining("tokenizer.json: holds 6 tokens, but no [MASK]");
    Files.writeString(file, "{\"model\": {}}");
    assertThatThrownBy(() -> Vocabulary.read(file))
        .hasMessageContaining("tokenizer.json: is no tokenizer: it has no model with numbered");
    Files.writeString(file, "{");
    assertThatThrownBy(() -> Vocabulary.read(file)).hasMessageContaining("is no JSON");
    var odd = tokenizer(WORDS.replace("WordLevel", "Magic"), MASK);
    assertThatThrownBy(() -> new WordPiece(Vocabulary.read(odd), true))
        .hasMessageContaining("is no tokenizer that the tokenizers library can read");
    Files.delete(file);
    assertThatThrownBy(() -> Vocabulary.read(file)).hasMessageContaining("no such file");
  }

  @Test
  void packsSentencesIntoPairs() throws IOException {
    var pairs =
        pairs("the cat sat\nthe cat\n\ncat\n" + "the\n".repeat(20), settings(10, true, true));
    assertThat(IntStream.range(0, pairs.size()).map(pairs::length)).allMatch(n -> n <= 10);
    assertThat(pairs.length(0)).isEqualTo(10);
    for (int epoch = 0; epoch < 20; epoch++) {
      var sequence = pairs.sequence(0, new SampleRandom(1, epoch, 0));
      assertThat(sequence.length()).isLessThanOrEqualTo(10);
      assertThat(sequence.tokens()[0]).isEqualTo(2);
      assertThat(sequence.tokens()[sequence.length() - 1]).isEqualTo(3);
      assertThat(Arrays.stream(sequence.tokens()).filter(t -> t == 3)).hasSize(2);
      assertThat(sequence.types()[0]).isZero();
      assertThat(sequence.types()[sequence.length() - 1]).isEqualTo(1);
    }
  }

  @Test
  void givesHalfOfThePairsATrueContinuation() throws IOException {
    var pairs = pairs("the cat\ncat sat\n".repeat(100), settings(12, true, true));
    int follows = 0;
    for (int epoch = 0; epoch < 1000; epoch++) {
      follows += pairs.sequence(3, new SampleRandom(1, epoch, 3)).label() == 0 ? 1 : 0;
    }
    assertThat(follows).isBetween(430, 570);
  }

  @Test
  void endsSequencesWithTheDocumentWhereNotPacked() throws IOException {
    var pairs = pairs("the cat\n\ncat sat\nthe\n", settings(12, false, true));
    assertThat(pairs.size()).isEqualTo(2);
    assertThat(pairs.length(0)).isEqualTo(5);
  }

  @Test
  void losesNoTokenOfALongSentence() throws IOException {
    var pairs = pairs("the ".repeat(50) + "\n", settings(12, true, false));
    int tokens = IntStream.range(0, pairs.size()).map(i -> pairs.length(i) - 2).sum();
    assertThat(tokens).isEqualTo(50);
    assertThat(pairs.sequence(0, new SampleRandom(0, 0, 0)).label())
        .isEqualTo(TextSequence.NO_LABEL);
  }

  @Test
  void dividesASingleFileIntoTrainingAndTest() throws IOException {
    Files.writeString(folder.resolve("text.txt"), "the cat sat\n".repeat(100));
    var settings = settings(12, true, true);
    settings.check();
    int whole = settings.train().size() + settings.test().size();
    assertThat(settings.train().size()).isEqualTo(whole / 2);
  }

  @Test
  void namesWhatIsMissing() throws IOException {
    assertThatThrownBy(settings(12, true, true)::check).hasMessageContaining("text.txt");
    Files.writeString(folder.resolve("text.txt"), "\n\n");
    assertThatThrownBy(settings(12, true, true)::train).hasMessageContaining("holds no sentence");
    Files.write(folder.resolve("text.txt"), new byte[] {(byte) 0xff, (byte) 0xfe, 0});
    assertThatThrownBy(settings(12, true, true)::train).hasMessageContaining("is not UTF-8 text");
    var missing = folder.resolve("none.txt");
    assertThatThrownBy(() -> Vocabulary.read(missing))
        .hasMessage(
            "data.vocabulary: " + missing + ": no such file (name the vocabulary of the model)");
    Files.write(missing, new byte[] {(byte) 0xc3, '\n'});
    assertThatThrownBy(() -> Vocabulary.read(missing)).hasMessageContaining("is not UTF-8 text");
    Files.writeString(vocabulary, "[PAD]\n[CLS]\n[SEP]\n[MASK]\n");
    assertThatThrownBy(settings(12, true, true)::check).hasMessageContaining("no [UNK]");
    Files.writeString(vocabulary, "[PAD]\n[CLS]\n[CLS]\n");
    assertThatThrownBy(settings(12, true, true)::check)
        .hasMessageContaining("vocab.txt, line 3: '[CLS]' a second time");
  }
}
