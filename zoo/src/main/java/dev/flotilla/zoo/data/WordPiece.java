package dev.flotilla.zoo.data;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Splits text into BERT's word pieces, or as a {@code tokenizer.json} says, by Hugging Face's
 * tokenizers library: the same pieces as in Python.
 */
final class WordPiece implements AutoCloseable {

  private static final int LINES_AT_ONCE = 1024;
  private static final Map<String, String> NOTHING_ADDED =
      Map.of("addSpecialTokens", "false", "padding", "false", "truncation", "false");

  static {
    // Where CUDA is seen, the library would fetch another build of itself from the network.
    // The variable of this name goes before the property.
    if (System.getProperty("RUST_FLAVOR") == null) {
      System.setProperty("RUST_FLAVOR", "cpu");
    }
  }

  private final HuggingFaceTokenizer tokenizer;

  WordPiece(Vocabulary vocabulary, boolean lowercase) {
    if (vocabulary.isTokenizer()) {
      tokenizer = saved(vocabulary);
      return;
    }
    vocabulary.require("[UNK]");
    try {
      var json = new ByteArrayInputStream(json(vocabulary, lowercase));
      tokenizer = HuggingFaceTokenizer.newInstance(json, NOTHING_ADDED);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A saved tokenizer says itself what it does with case and accents. */
  private static HuggingFaceTokenizer saved(Vocabulary vocabulary) {
    try {
      return HuggingFaceTokenizer.newInstance(vocabulary.file(), NOTHING_ADDED);
    } catch (IOException | RuntimeException e) {
      throw DataProblem.in(
          Vocabulary.KEY,
          "%s: is no tokenizer that the tokenizers library can read: %s"
              .formatted(vocabulary.file(), e.getMessage()),
          "save it anew with a current version of transformers");
    }
  }

  /** Returns the numbers of each line's pieces. */
  List<int[]> encode(List<String> lines) {
    List<int[]> encoded = new ArrayList<>(lines.size());
    for (int from = 0; from < lines.size(); from += LINES_AT_ONCE) {
      var some = lines.subList(from, Math.min(from + LINES_AT_ONCE, lines.size()));
      for (var encoding : tokenizer.batchEncode(some, false, false)) {
        encoded.add(Arrays.stream(encoding.getIds()).mapToInt(Math::toIntExact).toArray());
      }
    }
    return encoded;
  }

  /** Describes the tokenizer in the library's own format. */
  private static byte[] json(Vocabulary vocabulary, boolean lowercase) {
    var bytes = new ByteArrayOutputStream();
    try (var json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), bytes)) {
      json.writeStartObject();
      json.writeName("version").writeString("1.0");
      writeNormalizer(json, lowercase);
      json.writeName("pre_tokenizer").writeStartObject();
      json.writeName("type").writeString("BertPreTokenizer");
      json.writeEndObject();
      writeModel(json, vocabulary);
      json.writeEndObject();
    }
    return bytes.toByteArray();
  }

  private static void writeNormalizer(JsonGenerator json, boolean lowercase) {
    json.writeName("normalizer").writeStartObject();
    json.writeName("type").writeString("BertNormalizer");
    json.writeName("clean_text").writeBoolean(true);
    json.writeName("handle_chinese_chars").writeBoolean(true);
    json.writeName("strip_accents").writeNull();
    json.writeName("lowercase").writeBoolean(lowercase);
    json.writeEndObject();
  }

  private static void writeModel(JsonGenerator json, Vocabulary vocabulary) {
    json.writeName("model").writeStartObject();
    json.writeName("type").writeString("WordPiece");
    json.writeName("unk_token").writeString("[UNK]");
    json.writeName("continuing_subword_prefix").writeString("##");
    json.writeName("max_input_chars_per_word").writeNumber(100);
    json.writeName("vocab").writeStartObject();
    vocabulary.ids().forEach((token, id) -> json.writeName(token).writeNumber(id));
    json.writeEndObject();
    json.writeEndObject();
  }

  @Override
  public void close() {
    tokenizer.close();
  }
}
